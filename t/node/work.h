/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* work.h: work that takes a given time on a core: of the timed node if there is one, else real. */
#ifndef NODE_WORK_H
#define NODE_WORK_H

#include <stdint.h>
#include <time.h>

/* Of t/node/shim.so. Short works are put together, so one may be called for each little thing. */
extern void node_work(uint64_t nanoseconds) __attribute__((weak));

static inline uint64_t work_cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline void work_ns(uint64_t nanoseconds)
{
	uint64_t begin;

	if (node_work) {
		node_work(nanoseconds);
		return;
	}
	begin = work_cpu_time();
	while (work_cpu_time() - begin < nanoseconds)
		;
}

#endif

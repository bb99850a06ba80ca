/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* work.h: work that takes a given time on a core: of the timed node if there is one, else real. */
#pragma once

#include <stdint.h>
#include <time.h>

/*
 * Of t/node/shim.so alone. Works of less than 100 us are put together. Who calls it in a parallel
 * region makes that one bound, as nobody knows what the function does; work_ns() does not.
 */
extern void node_work(uint64_t nanoseconds) __attribute__((weak));

static inline uint64_t work_cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline void work_ns(uint64_t nanoseconds)
{
	struct timespec time = {(time_t)(nanoseconds / 1000000000u),
				(long)(nanoseconds % 1000000000u)};
	uint64_t begin;

	/* As the shim has it, this is node_work(). */
	if (clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &time, NULL) == 0)
		return;
	begin = work_cpu_time();
	while (work_cpu_time() - begin < nanoseconds)
		;
}

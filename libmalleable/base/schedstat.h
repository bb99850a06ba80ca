/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* schedstat.h: for how long a thread was ready and had no CPU, as the kernel counts it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "libmalleable/base/input.h"

/*
 * Read that in ns from PATH, a thread's schedstat below /proc: its second number (Linux,
 * Documentation/scheduler/sched-stats.rst). Returns false, with 0, where the kernel does not count.
 */
static inline bool mal_schedstat_waited(const char *path, uint64_t *ns)
{
	char text[128], *end;
	bool counts;

	mal_input_text(path, text, sizeof(text));
	/* A kernel that does not count has zeros, and a thread that we see has run. */
	counts = strtoull(text, &end, 10) > 0;
	*ns = strtoull(end, NULL, 10);
	return counts;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pages.h: the memory of a rank that left a NUMA node for good follows it (pages=follow). */
#ifndef MAL_CONTROLLER_CPUS_PAGES_H
#define MAL_CONTROLLER_CPUS_PAGES_H

#include "libmalleable/controller/state/controller.h"

/* For so many RANKS. NULL: out of memory. */
struct mal_pages *mal_pages_create(unsigned int ranks);

/* NULL-safe. */
void mal_pages_destroy(struct mal_pages *pages);

/*
 * Call once per window. Where a rank had no CPU for some windows on a node that may hold memory of
 * it, a thread sends its private pages from there to the node on which it has most CPUs. It sends
 * the pages of one rank at a time, 2 MiB at a time (move_pages(2)), and rests nine times as long as
 * the sending took. So it costs a tenth of a CPU at most, and ends within one such piece when the
 * step does. The kernel decides whether it may, as for any process of the same user.
 */
void mal_pages_follow(struct mal_controller *controller);

/* Pages sent so far, and seconds of sending. */
void mal_pages_count(uint64_t *pages, double *seconds);

#endif

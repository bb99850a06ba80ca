/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pages.h: the memory of a rank that left a NUMA node for good follows it (pages=follow). */
#ifndef MAL_CONTROLLER_PAGES_H
#define MAL_CONTROLLER_PAGES_H

#include "libmalleable/controller/controller.h"

/*
 * Call once per window. Where a rank has had no CPU for some windows on a node that may hold memory of it, its private pages are
 * sent from there to the node on which it has most CPUs: by a thread of its own, one rank at a time, 2 MiB at a time
 * (move_pages(2)), with rests nine times as long as the sending took, so that it costs a tenth of a CPU at most and ends within
 * one such piece when the step does. The kernel decides, as for any process of the same user, whether it may.
 */
void mal_pages_follow(struct mal_controller *controller);

/* Pages sent so far, and seconds of sending. */
void mal_pages_count(uint64_t *pages, double *seconds);

#endif

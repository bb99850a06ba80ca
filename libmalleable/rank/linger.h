/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * linger.h: whether threads that wait for work may be put to sleep. That frees CPUs to lend, but
 * each region then begins with a wake-up: 10 to 60 us, or milliseconds where other threads have the
 * CPU. The same regions are compared in both ways, and threads wait as without balancing where
 * sleep makes regions longer. Primary thread only.
 */
#ifndef MAL_RANK_LINGER_H
#define MAL_RANK_LINGER_H

#include <stdbool.h>

/* Of a region: ticks times CPUs, moving averages; 0: not known. */
struct mal_linger_costs {
	double awake, asleep;
};

/*
 * A region took WORK (ticks times CPUs, none of them shared) while waiting threads slept, if
 * ASLEEP, or waited as usual. Returns whether mal_linger_may_sleep() differs from now on.
 */
bool mal_linger_learn(struct mal_linger_costs *costs, double work, bool asleep);

/* Whether threads that wait may be put to sleep. */
bool mal_linger_may_sleep(void);

/* Forget all, for tests. */
void mal_linger_clear(void);

#endif

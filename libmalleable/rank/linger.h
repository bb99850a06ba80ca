/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * linger.h: whether threads that wait for work may be put to sleep. That frees CPUs to lend, but
 * each region then begins with a wake-up: 10 to 60 us, or milliseconds where other threads have the
 * CPU. Both ways are tried in turn, and threads wait as without balancing where regions are longer
 * while they sleep. Primary thread only.
 */
#ifndef MAL_RANK_LINGER_H
#define MAL_RANK_LINGER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * By tick NOW so many REGIONS ran, for TICKS in sum. Returns whether mal_linger_may_sleep() differs
 * from now on.
 */
bool mal_linger_learn(uint64_t now, uint64_t regions, uint64_t ticks);

/* Whether threads that wait may be put to sleep. Not at first. */
bool mal_linger_may_sleep(void);

/* Forget all, for tests. */
void mal_linger_clear(void);

#endif

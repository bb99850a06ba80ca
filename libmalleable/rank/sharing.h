/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sharing.h: whether short regions share CPUs: they are opened with more threads than CPUs, borrow
 * CPUs, and let threads that wait for work sleep. That helps where others wait, but each region
 * then begins with a wake-up: 10 to 60 us, or milliseconds where other threads have the CPU. Both
 * ways are tried in turn, and what makes regions longer is left; where nobody lends for a while,
 * all ranks learn at once how long theirs take alone. Primary thread only.
 */
#ifndef MAL_RANK_SHARING_H
#define MAL_RANK_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/rank/length.h"

/*
 * By tick NOW there were these RUNS (length.h). Where nobody LENDS, their length is learnt, and
 * sharing may end, but does not begin. Returns whether mal_sharing() differs from now on.
 */
bool mal_sharing_learn(uint64_t now, const struct mal_runs *runs, bool lends);

/* Whether they share now. Not at first: what regions take by themselves has to be known. */
bool mal_sharing(void);

/* Whether long regions may share before that is known: so far, most regions are long enough. */
bool mal_sharing_may_begin(void);

/*
 * They may no longer: one took far longer than alone. The first window starts anew, for a trial to
 * be compared with regions that were alone.
 */
void mal_sharing_begin_later(void);

/* Whether regions are too short to gain by CPUs of others, or not known yet. */
bool mal_sharing_is_of_no_use(void);

/* Forget all, for tests. */
void mal_sharing_clear(void);

#endif

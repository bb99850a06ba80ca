/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * loose.h: ranks whose threads no OpenMP runtime tells us about: on libgomp, TBB, threads of their own. They keep the threads
 * that they have (cpuset mode), all of them on all of the rank's CPUs; what they work is what the kernel says.
 */
#ifndef MAL_RANK_LOOSE_H
#define MAL_RANK_LOOSE_H

#include <stdbool.h>

#include "libmalleable/core/segment.h"

/* MPI has been initialised in the process. */
void mal_loose_open(void);

/* Put into SNAPSHOT what the threads worked while the rank was loose and, if it still is, how many CPUs are of use to them. */
void mal_loose_sample(struct mal_snapshot *snapshot);

/* Around a wait of the primary thread in MPI: its polling is no work. */
void mal_loose_wait_begin(void);
void mal_loose_wait_end(void);

/* Around each call of MPI: between calls a rank with more threads than CPUs would use CPUs of others. */
void mal_loose_call_begin(void);
void mal_loose_call_end(void);

/* True if all threads but the calling one sleep. Looked up at most every millisecond. */
bool mal_loose_is_idle(void);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unmanaged.h: unmanaged ranks, whose threads no OMPT runtime reports: libgomp, TBB, pthreads.
 *
 * They keep their number of threads (cpuset mode), each on all of the rank's CPUs. The kernel's CPU
 * times say how much they work. Primary thread only.
 */
#pragma once

#include <stdbool.h>

#include "libmalleable/rank/state/rank.h"

/* MPI is initialised: the rank is unmanaged unless an OMPT runtime has started. */
void mal_unmanaged_open(struct mal_rank *rank);

/*
 * Add to SNAPSHOT what the threads worked while the rank was unmanaged and, if it still is, how
 * many CPUs they can use.
 */
void mal_unmanaged_sample(struct mal_rank *rank, struct mal_snapshot *snapshot);

/*
 * In a wait of the primary thread in MPI that has lasted TICKS, and at its end: polling is no work.
 * A wait that ends before the first call polled all the time.
 */
void mal_unmanaged_wait(struct mal_rank *rank, uint64_t ticks);
void mal_unmanaged_wait_end(struct mal_rank *rank, uint64_t ticks);

/* The primary thread was in short waits for TICKS more. */
static inline void mal_unmanaged_polled(struct mal_rank *rank, uint64_t ticks)
{
	rank->work_own.polled += ticks;
}

/* Around each MPI call: between calls a rank with more threads than CPUs asks for CPUs. */
void mal_unmanaged_call_begin(const struct mal_rank *rank);
void mal_unmanaged_call_end(struct mal_rank *rank);

/* Whether an unmanaged rank asks for CPUs, or can use more than it has. */
static inline bool mal_unmanaged_may_ask(const struct mal_rank *rank)
{
	return rank->work.asks || rank->work.usable > rank->cpus.owned_count;
}

/* What the program declares of its balancing has changed. */
void mal_unmanaged_bound(struct mal_rank *rank);

/*
 * The program has work for MAX CPUs in all from now on, as it declares: if that is not the primary
 * thread, also while that is in MPI. Opens a rank without MPI. Who has the lock of the CPUs.
 */
void mal_unmanaged_wish(struct mal_rank *rank, unsigned int max);

/* Whether all threads but the calling one sleep. Looks at most once a millisecond. */
bool mal_unmanaged_is_idle(struct mal_rank *rank);

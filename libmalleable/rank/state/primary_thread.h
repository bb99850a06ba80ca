/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * primary_thread.h: all that is written of the primary thread (rank/primary.c chooses it).
 *
 * Invariant: no module writes it otherwise (t/t0002-walls.t: a rank's parts are constant
 * elsewhere).
 */
#pragma once

#include "libmalleable/rank/state/rank.h"

/* Thread TID is it in place of *OLD. False: another one is, now in *OLD. */
static inline bool mal_primary_replace(struct mal_rank *rank, int32_t *old, int32_t tid)
{
	return atomic_compare_exchange_strong(&rank->primary_own.tid, old, tid);
}

/* Thread TID is it again; MAL_PRIMARY_ENDED: it has ended, and another thread may be it. */
static inline void mal_primary_set(struct mal_rank *rank, int32_t tid)
{
	atomic_store(&rank->primary_own.tid, tid);
}

/* It is the process's first THREAD. */
static inline void mal_primary_is_first(struct mal_rank *rank, struct mal_thread *thread)
{
	rank->primary_own.first = thread;
}

/* It leaves a region or MPI, or what it did until then was counted. NOW: tick. */
static inline void mal_primary_left(struct mal_rank *rank, uint64_t now)
{
	rank->primary_own.last_leave = now;
}

/* It leaves MPI, as far as others are concerned. */
static inline void mal_primary_left_mpi(struct mal_rank *rank, uint64_t now)
{
	rank->primary_own.left_mpi = now;
}

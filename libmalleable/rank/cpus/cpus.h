/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cpus.h: the CPUs that this rank owns and borrows. The primary thread, or who has their lock
 * (lock.h), which all functions that change them take.
 */
#pragma once

#include <stdbool.h>

#include "libmalleable/rank/state/rank.h"

/*
 * Read the CPU words again if another process changed ours since the last time. Returns whether it
 * did.
 */
bool mal_cpus_refresh(struct mal_rank *rank);

/* Any thread: the primary one finds at its next region or call of MPI that CPUs have changed. */
static inline void mal_cpus_outdate(struct mal_rank *rank)
{
	uint32_t other = atomic_load(&rank->slot->changes) - 1;

	__atomic_store_n(&rank->cpus_own.seen_changes, other, __ATOMIC_RELAXED);
	__atomic_store_n(&rank->cpus_own.prepared_changes, other, __ATOMIC_SEQ_CST);
}

/* Regions were prepared for the CPUs as they were read last. */
static inline void mal_cpus_prepared(struct mal_rank *rank)
{
	rank->cpus_own.prepared_changes = rank->cpus.seen_changes;
}

/* Borrow up to LIMIT free CPUs, nearest to ours first. Returns the number borrowed. */
unsigned int mal_cpus_borrow(struct mal_rank *rank, unsigned int limit);

/* Return all borrowed CPUs, or all but the first KEPT. */
void mal_cpus_release(struct mal_rank *rank);
void mal_cpus_release_beyond(struct mal_rank *rank, unsigned int kept);

/*
 * Carry out the plan in the segment: hand over the CPUs it takes from us, and take those it gives
 * us that their givers have left.
 */
void mal_cpus_apply_plan(struct mal_rank *rank);

/* The rank ends: say so, and lend all its CPUs to the others. */
void mal_cpus_leave(struct mal_rank *rank);

/* How many of CPUS CPUs the team is to use: all, unless the policy or the program wants fewer. */
unsigned int mal_cpus_to_use(const struct mal_rank *rank, unsigned int cpus);

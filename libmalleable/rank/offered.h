/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * offered.h: a wait outside MPI that the program declares: its rank lends its CPUs meanwhile.
 *
 * On the primary thread it is for the rank a call of MPI in which no poll is seen: the helper lends
 * (wait_helper.h), and calls of MPI in it are part of it. A parallel region ends it, longjmp() out
 * of it, and the thread's end. On any other thread the rank lends while all threads sleep
 * (asleep.h).
 *
 * Outside regions and calls of MPI.
 */
#pragma once

#include <stdbool.h>

#include "libmalleable/rank/state/rank.h"
#include "libmalleable/rank/wait_helper.h"

/* How many CPUs the rank lends in a long wait, in which the thread BLOCKS or needs its CPU. */
static inline int mal_offer_count(const struct mal_rank *rank, bool blocks)
{
	uint32_t rules = mal_rules(rank);
	unsigned int cpus = rank->cpus.owned_count;

	if (!mal_rule_or_none(rank, MAL_RULE_LEND) || !cpus)
		return 0;
	return (int)(cpus - (!blocks || rules & MAL_RULE_KEEP_ONE));
}

/*
 * The same as the two functions below, of the primary thread, where it will probably be a short
 * wait and nothing is to be done: the clock is not read, and no phase ends. The helper notices when
 * it is long, and begins it. False: nothing was done.
 */
static inline bool mal_offer_begin_short(struct mal_rank *rank, bool blocks)
{
	if (!rank->declared.left || !mal_self.primary || rank->region.depth || mal_self.mpi_depth ||
	    mal_self.testing || rank->cpus.borrowed_count || rank->work.asks ||
	    !rank->helper.started ||
	    atomic_load_explicit(&rank->slot->changes, memory_order_relaxed) !=
		    rank->cpus.seen_changes)
		return false;
	rank->declared_own.left--;
	mal_wait_helper_blocks(rank, blocks);
	mal_self.declared = mal_self.mpi_depth = 1;
	mal_self.mpi_frame = 0;
	mal_self.collective = true;
	mal_self.calling = MAL_CALLS_POLLS_HIDDEN;
	mal_self.waiting = false;
	mal_wait_helper_hand_over(rank);
	return true;
}

static inline bool mal_offer_end_short(struct mal_rank *rank)
{
	if (mal_self.declared != 1 || mal_self.mpi_depth != 1 ||
	    mal_self.calling != MAL_CALLS_POLLS_HIDDEN || !mal_wait_helper_revoke(rank) ||
	    atomic_load_explicit(&rank->slot->waiting_since, memory_order_relaxed))
		return false;
	mal_self.declared = mal_self.mpi_depth = 0;
	mal_self.calling = MAL_CALLS_NOT;
	return true;
}

/*
 * The thread is about to wait: it BLOCKS in the kernel, or polls on its CPU, which the rank keeps.
 * Pairs nest. Returns how many CPUs the rank lends if the wait is long.
 */
int mal_offer_begin(struct mal_rank *rank, bool blocks);

/* The CPUs are back. Returns false if there was no begin. */
bool mal_offer_end(void);

/* The next wait of the primary thread is timed, however short the last ones were. */
void mal_offer_time_next(struct mal_rank *rank);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * phase.h: the end of a phase, where samples go up and plans are carried out. Primary thread only.
 */
#pragma once

#include "libmalleable/core/segment.h"
#include "libmalleable/rank/state/rank.h"

/* Add what MPI calls since the last time took because we are in them to the rank's own time. */
void mal_phase_count_calls(struct mal_rank *rank);

/* The program reached a boundary of KIND. Whether it counts is the controller's choice. */
void mal_phase_boundary(enum mal_boundary_kind kind);

/* Whether there is a plan that this rank has not carried out completely. */
static inline bool mal_phase_has_plan(const struct mal_rank *rank)
{
	return rank->cpus.plan_unfinished ||
	       atomic_load_explicit(&rank->segment.header->plan, memory_order_acquire) !=
		       rank->cpus.seen_plan;
}

/*
 * Carry out such a plan, outside any region: give CPUs away and take those that have arrived.
 * Called at boundaries, and between them while the team is free, so that a plan need not wait for
 * the end of the phase.
 */
void mal_phase_follow_plan(struct mal_rank *rank);

/*
 * Have rank->outside.waits have what the rank waited up to now. Primary thread, outside regions and
 * MPI. Takes some microseconds for each thread of the team.
 */
void mal_phase_look_outside(struct mal_rank *rank);

/*
 * The rank ends: what it did since its last sample is part of no window, but of the report. In a
 * thread that ends the process from elsewhere than the program's serial part it does nothing.
 */
void mal_phase_end(struct mal_rank *rank);

/* A region at code address WHERE ended. Regions that repeat are boundaries if nobody meets. */
void mal_phase_region(const void *where);

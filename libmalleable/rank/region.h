/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* region.h: before and after each outermost parallel region of the primary thread. */
#pragma once

#include "libmalleable/rank/state/rank.h"

/* The primary thread opens a region, in pairs. Returns whether it is the outermost one. */
static inline bool mal_region_enter(struct mal_rank *rank)
{
	return !rank->region_own.depth++;
}

/* Returns whether it was the outermost one. */
static inline bool mal_region_leave(struct mal_rank *rank)
{
	return rank->region_own.depth && !--rank->region_own.depth;
}

/*
 * A region starts with REQUESTED threads (0: no num_threads clause): borrow CPUs, choose the team's
 * size and place it. WHERE is its function, or an address with MAL_NO_FUNCTION (prove.h).
 */
void mal_region_begin(const void *where, unsigned int requested);

/*
 * The team has SIZE threads, not the number it was prepared for. Primary thread, inside the region.
 */
void mal_region_resized(struct mal_rank *rank, unsigned int size);

/* The region whose call returns to WHERE ended. */
void mal_region_end(const void *where);

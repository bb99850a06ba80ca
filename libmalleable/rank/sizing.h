/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sizing.h: how many threads a region gets, by what its past runs took. Primary thread only.
 *
 * A region shares CPUs for what is known of it alone: it lasts. It never shares for ever without a
 * run alone (t/unit/test_sizing.c: alone_now_and_then). Whether sharing pays is not judged here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/rank/region_table.h"
#include "libmalleable/rank/state/rank.h"

/* Set lengths in ticks (mal_rank.region). Once, before the others. */
void mal_sizing_open(struct mal_rank *rank);

/* Whether it may borrow CPUs, and have more threads than CPUs. */
bool mal_sizing_may_share(const struct mal_rank *rank, const struct mal_region *region);

/*
 * Whether the current region shares CPUs by our choice, or uses those of others. A program's own
 * threads share them in each run: none would be alone.
 */
static inline bool mal_sizing_is_shared(const struct mal_rank *rank)
{
	return rank->cpus.borrowed_count || (rank->region.oversubscribed && rank->region.sized);
}

/* Its team: one thread per CPU, or more if CPUs may come while it runs. */
unsigned int mal_sizing_team(const struct mal_rank *rank, const struct mal_region *region);

/* It ended at tick NOW. Ask for CPUs while others wait, if ranks lend and it may share. */
void mal_sizing_learn(struct mal_rank *rank, struct mal_region *region, uint64_t now);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mapping.c: choose CPUs from counts: near in the topology, with least movement.
 *
 * If the node is too large for the best assignment (assignment.h), CPUs move one by one: always the
 * one that gains the taker most and costs its giver least. The layout, kept up to date, tells how
 * near a CPU is to a rank's others, so a move costs one look at each CPU.
 */
#include "policies/mapping/mapping.h"

#include <string.h>

#include "policies/mapping/assignment.h"

/* Value of one more CPU of the rank in the same group. */
#define WORTH_CORE 1000000000L
#define WORTH_L3 1000000L
#define WORTH_NUMA 1000L
#define WORTH_PACKAGE 1L

struct map {
	const struct mal_view *view;
	struct mal_plan *plan;
	struct mal_layout layout;
};

/* How near CPU is to RANK's other CPUs. */
static long closeness(const struct map *map, unsigned int cpu, unsigned int rank)
{
	long count[MAL_LEVELS], self = map->plan->owner[cpu] == rank;

	for (enum mal_level level = MAL_BY_CORE; level < MAL_LEVELS; level++)
		count[level] =
			mal_layout_count(&map->layout, level, rank, map->layout.group[level][cpu]) -
			self;
	return count[MAL_BY_CORE] * WORTH_CORE +
	       (count[MAL_BY_L3] - count[MAL_BY_CORE]) * WORTH_L3 +
	       (count[MAL_BY_NUMA] - count[MAL_BY_L3]) * WORTH_NUMA +
	       (count[MAL_BY_PACKAGE] - count[MAL_BY_NUMA]) * WORTH_PACKAGE;
}

/* CPUs without an owner, and those of ranks that do not run, stay: such ranks may come back. */
static bool can_give(const struct map *map, unsigned int rank)
{
	return rank < map->view->rank_count && map->view->samples[rank].running &&
	       map->layout.have[rank] > map->plan->count[rank];
}

/* Find the best CPU for RANK among ranks with too many; the number of CPUs if there is none. */
static unsigned int best_for(const struct map *map, unsigned int rank)
{
	unsigned int cpus = map->view->topology->cpu_count, best = cpus;
	long best_worth = 0;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		unsigned int giver = map->plan->owner[cpu];
		long worth;

		if (giver == rank || !can_give(map, giver))
			continue;
		worth = closeness(map, cpu, rank) - closeness(map, cpu, giver);
		if (best == cpus || worth > best_worth) {
			best = cpu;
			best_worth = worth;
		}
	}
	return best;
}

static void map_one_by_one(struct map *map)
{
	const struct mal_view *view = map->view;
	struct mal_plan *plan = map->plan;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		while (map->layout.have[rank] < plan->count[rank]) {
			unsigned int cpu = best_for(map, rank);

			if (cpu == view->topology->cpu_count)
				break;
			mal_layout_add(&map->layout, cpu, plan->owner[cpu], -1);
			plan->owner[cpu] = rank;
			mal_layout_add(&map->layout, cpu, rank, 1);
		}
	}
}

void mal_map(const struct mal_view *view, struct mal_plan *plan)
{
	struct map map = {.view = view, .plan = plan};

	memcpy(plan->owner, view->owner, view->topology->cpu_count * sizeof(plan->owner[0]));
	/* Without memory the owners stay as they are, and the check rejects the plan. */
	if (mal_layout_open(&map.layout, view, plan->owner) == 0 &&
	    !mal_assign(view, &map.layout, plan))
		map_one_by_one(&map);
	mal_layout_close(&map.layout);
}

void mal_map_to(const unsigned int *owner, size_t cpu_count, const struct mal_view *view,
		struct mal_plan *plan)
{
	if (owner)
		memcpy(plan->owner, owner, cpu_count * sizeof(plan->owner[0]));
	else
		mal_map(view, plan);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mapping.c: from numbers of CPUs to CPUs: near in the topology, with least movement.
 *
 * CPUs move one by one, each time the one that brings the taker most and costs its giver least. How near a CPU is to a
 * rank's others is read off counts of its CPUs per L3, NUMA node and package, kept up to date: a move costs one look at each CPU.
 */
#include "policies/mapping.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What one more CPU of the rank in the same group counts. */
#define WORTH_L3 1000000L
#define WORTH_NUMA 1000L
#define WORTH_PACKAGE 1L

enum { BY_L3, BY_NUMA, BY_PACKAGE, LEVELS };

struct map {
	const struct mal_view *view;
	struct mal_plan *plan;
	unsigned int groups[LEVELS];
	unsigned int *group[LEVELS]; /* by CPU: its group, numbered from 0 */
	uint16_t *count[LEVELS];     /* by rank and group: CPUs of the rank in it */
	unsigned int *have;	     /* by rank: CPUs */
};

/* Number the groups in order of appearance. Returns how many there are. */
static unsigned int number_groups(const unsigned int *given, unsigned int cpus, unsigned int *group, unsigned int *seen)
{
	unsigned int slots = 2 * cpus, groups = 0;

	/* A hash table: seen[2 s] is a group's name, seen[2 s + 1] its number plus one. */
	memset(seen, 0, 2 * (size_t)slots * sizeof(*seen));
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		unsigned int slot = given[cpu] * 2654435761u % slots;

		while (seen[2 * slot + 1] && seen[2 * slot] != given[cpu])
			slot = (slot + 1) % slots;
		if (!seen[2 * slot + 1]) {
			seen[2 * slot] = given[cpu];
			seen[2 * slot + 1] = ++groups;
		}
		group[cpu] = seen[2 * slot + 1] - 1;
	}
	return groups;
}

static void close_map(struct map *map)
{
	for (int level = 0; level < LEVELS; level++) {
		free(map->group[level]);
		free(map->count[level]);
	}
	free(map->have);
}

static void add(struct map *map, unsigned int cpu, unsigned int rank, int change)
{
	if (rank >= map->view->rank_count)
		return;
	map->have[rank] += (unsigned int)change;
	for (int level = 0; level < LEVELS; level++) {
		uint16_t *count = &map->count[level][(size_t)rank * map->groups[level] + map->group[level][cpu]];

		*count = (uint16_t)(*count + change);
	}
}

static int open_map(struct map *map)
{
	const struct mal_topology *topology = map->view->topology;
	const unsigned int *given[LEVELS] = {topology->l3, topology->numa, topology->package};
	unsigned int cpus = topology->cpu_count;
	unsigned int *seen = malloc(4 * (size_t)cpus * sizeof(*seen));

	map->have = calloc(map->view->rank_count, sizeof(*map->have));
	for (int level = 0; level < LEVELS && seen; level++) {
		map->group[level] = malloc(cpus * sizeof(*map->group[level]));
		if (!map->group[level])
			break;
		map->groups[level] = number_groups(given[level], cpus, map->group[level], seen);
		map->count[level] = calloc((size_t)map->view->rank_count * map->groups[level], sizeof(uint16_t));
	}
	free(seen);
	if (!map->have || !map->count[BY_L3] || !map->count[BY_NUMA] || !map->count[BY_PACKAGE])
		return -1;
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		add(map, cpu, map->plan->owner[cpu], 1);
	return 0;
}

/* How near CPU is to the CPUs of RANK, itself not counted. */
static long closeness(const struct map *map, unsigned int cpu, unsigned int rank)
{
	long count[LEVELS], self = map->plan->owner[cpu] == rank;

	for (int level = 0; level < LEVELS; level++)
		count[level] = map->count[level][(size_t)rank * map->groups[level] + map->group[level][cpu]] - self;
	return count[BY_L3] * WORTH_L3 + (count[BY_NUMA] - count[BY_L3]) * WORTH_NUMA +
	       (count[BY_PACKAGE] - count[BY_NUMA]) * WORTH_PACKAGE;
}

/* CPUs of nobody, and of ranks that do not run (they may come again), stay where they are. */
static bool can_give(const struct map *map, unsigned int rank)
{
	return rank < map->view->rank_count && map->view->samples[rank].running &&
	       map->have[rank] > map->plan->count[rank];
}

/* The best CPU for RANK from those who have too many; the number of CPUs if there is none. */
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

void mal_map(const struct mal_view *view, struct mal_plan *plan)
{
	struct map map = {.view = view, .plan = plan};
	unsigned int cpus = view->topology->cpu_count;

	memcpy(plan->owner, view->owner, cpus * sizeof(plan->owner[0]));
	/* Without memory the owners stay as they are: the check of the plan will say so. */
	for (unsigned int rank = open_map(&map) == 0 ? 0 : view->rank_count; rank < view->rank_count; rank++) {
		while (map.have[rank] < plan->count[rank]) {
			unsigned int cpu = best_for(&map, rank);

			if (cpu == cpus)
				break;
			add(&map, cpu, plan->owner[cpu], -1);
			plan->owner[cpu] = rank;
			add(&map, cpu, rank, 1);
		}
	}
	close_map(&map);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* layout.c: count the CPUs of each rank by place. */
#include "policies/mapping/layout.h"

#include <stdlib.h>
#include <string.h>

/* Number the groups in order of appearance. Returns their number. */
static unsigned int number_groups(const unsigned int *given, unsigned int cpus, unsigned int *group,
				  unsigned int *seen)
{
	unsigned int slots = 2 * cpus, groups = 0;

	/* Unknown: each CPU is a group of its own. */
	if (!given) {
		for (unsigned int cpu = 0; cpu < cpus; cpu++)
			group[cpu] = cpu;
		return cpus;
	}

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

void mal_layout_close(struct mal_layout *layout)
{
	for (int level = 0; level < MAL_LEVELS; level++) {
		free(layout->group[level]);
		free(layout->count[level]);
	}
	free(layout->have);
}

void mal_layout_add(struct mal_layout *layout, unsigned int cpu, unsigned int rank, int change)
{
	if (rank >= layout->rank_count)
		return;
	layout->have[rank] += (unsigned int)change;
	for (int level = 0; level < MAL_LEVELS; level++) {
		uint16_t *count = &layout->count[level][(size_t)rank * layout->groups[level] +
							layout->group[level][cpu]];

		*count = (uint16_t)(*count + change);
	}
}

int mal_layout_open(struct mal_layout *layout, const struct mal_view *view,
		    const unsigned int *owner)
{
	const struct mal_topology *topology = view->topology;
	const unsigned int *given[MAL_LEVELS] = {topology->core, topology->l3, topology->numa,
						 topology->package};
	unsigned int cpus = topology->cpu_count;
	unsigned int *seen = malloc(4 * (size_t)cpus * sizeof(*seen));

	*layout = (struct mal_layout){.rank_count = view->rank_count};
	layout->have = calloc(view->rank_count, sizeof(*layout->have));
	for (int level = 0; level < MAL_LEVELS && seen; level++) {
		layout->group[level] = malloc(cpus * sizeof(*layout->group[level]));
		if (!layout->group[level])
			break;
		layout->groups[level] =
			number_groups(given[level], cpus, layout->group[level], seen);
		layout->count[level] = calloc((size_t)view->rank_count * layout->groups[level],
					      sizeof(*layout->count[level]));
	}
	free(seen);
	if (!layout->have || !layout->count[MAL_BY_CORE] || !layout->count[MAL_BY_L3] ||
	    !layout->count[MAL_BY_NUMA] || !layout->count[MAL_BY_PACKAGE])
		return -1;
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		mal_layout_add(layout, cpu, owner[cpu], 1);
	return 0;
}

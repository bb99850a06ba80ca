/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* layout.h: count the CPUs of each rank by core, L3 group, NUMA node and package. */
#ifndef MAL_POLICIES_MAPPING_LAYOUT_H
#define MAL_POLICIES_MAPPING_LAYOUT_H

#include <stdint.h>

#include "policies/interface/policy.h"

enum mal_level { MAL_BY_CORE, MAL_BY_L3, MAL_BY_NUMA, MAL_BY_PACKAGE, MAL_LEVELS };

struct mal_layout {
	unsigned int rank_count;
	unsigned int groups[MAL_LEVELS];
	unsigned int *group[MAL_LEVELS]; /* by CPU: its group, numbered from 0 */
	uint16_t *count[MAL_LEVELS];	 /* by rank and group: CPUs of the rank in it */
	unsigned int *have;		 /* by rank: CPUs */
};

/*
 * Fill LAYOUT from OWNER, the rank of each CPU. Returns 0, or -1: out of memory. Close LAYOUT in
 * both cases.
 */
int mal_layout_open(struct mal_layout *layout, const struct mal_view *view,
		    const unsigned int *owner);

void mal_layout_close(struct mal_layout *layout);

/* Add CPU to RANK (CHANGE 1) or remove it (-1). Ranks that do not exist are ignored. */
void mal_layout_add(struct mal_layout *layout, unsigned int cpu, unsigned int rank, int change);

/* How many CPUs RANK has in GROUP. */
static inline unsigned int mal_layout_count(const struct mal_layout *layout, enum mal_level level,
					    unsigned int rank, unsigned int group)
{
	return layout->count[level][(size_t)rank * layout->groups[level] + group];
}

#endif

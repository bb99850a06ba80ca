/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mapping.h: choose CPUs from counts: near in the topology, with least movement. */
#ifndef MAL_POLICIES_MAPPING_MAPPING_H
#define MAL_POLICIES_MAPPING_MAPPING_H

#include "policies/interface/policy.h"

/*
 * Fill plan->owner from plan->count. Ranks get CPUs near their own (same L3, then same NUMA node,
 * then same package), and few CPUs change hands. The result is deterministic and takes bounded
 * time: the best assignment if ranks x ranks x L3 groups are few, else CPUs one by
 * one.
 */
void mal_map(const struct mal_view *view, struct mal_plan *plan);

/* The same, but where OWNER is not NULL: these owners, by CPU, of CPU_COUNT CPUs. */
void mal_map_to(const unsigned int *owner, size_t cpu_count, const struct mal_view *view,
		struct mal_plan *plan);

#endif

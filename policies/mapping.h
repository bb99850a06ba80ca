/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mapping.h: from numbers of CPUs to CPUs: near in the topology, with least movement. */
#ifndef MAL_POLICIES_MAPPING_H
#define MAL_POLICIES_MAPPING_H

#include "policies/policy.h"

/*
 * Fill plan->owner from plan->count: ranks get CPUs near to their own (same L3, then same NUMA node, then same package), few
 * change hands. Deterministic; bounded time: the best assignment where ranks x ranks x L3 groups are few (assignment.h), else CPUs
 * one by one.
 */
void mal_map(const struct mal_view *view, struct mal_plan *plan);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mapping.c: from numbers of CPUs to CPUs: near in the topology, with least movement. */
#include "policies/mapping.h"

#include <string.h>

/* CPUs of RANK near CPU, the nearer the more they count. */
static unsigned long closeness(const struct mal_view *view, const unsigned int *owner, unsigned int cpu,
			       unsigned int rank)
{
	const struct mal_topology *topology = view->topology;
	unsigned long sum = 0;

	for (unsigned int other = 0; other < topology->cpu_count; other++) {
		if (owner[other] != rank || other == cpu)
			continue;
		if (topology->l3[other] == topology->l3[cpu])
			sum += 1000000;
		else if (topology->numa[other] == topology->numa[cpu])
			sum += 1000;
		else if (topology->package[other] == topology->package[cpu])
			sum += 1;
	}
	return sum;
}

static bool can_give(const struct mal_plan *plan, const unsigned int *have, unsigned int ranks, unsigned int rank)
{
	return rank >= ranks || have[rank] > plan->count[rank];
}

void mal_map(const struct mal_view *view, struct mal_plan *plan)
{
	unsigned int cpus = view->topology->cpu_count;
	unsigned int have[view->rank_count];

	memset(have, 0, sizeof(have));
	memcpy(plan->owner, view->owner, cpus * sizeof(plan->owner[0]));
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		if (plan->owner[cpu] < view->rank_count)
			have[plan->owner[cpu]]++;
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		while (have[rank] < plan->count[rank]) {
			unsigned int best = cpus;
			long best_worth = 0;

			for (unsigned int cpu = 0; cpu < cpus; cpu++) {
				unsigned int giver = plan->owner[cpu];
				long worth;

				if (giver == rank || !can_give(plan, have, view->rank_count, giver))
					continue;
				worth = (long)closeness(view, plan->owner, cpu, rank);
				if (giver < view->rank_count)
					worth -= (long)closeness(view, plan->owner, cpu, giver);
				if (best == cpus || worth > best_worth) {
					best = cpu;
					best_worth = worth;
				}
			}
			if (best == cpus)
				break;
			if (plan->owner[best] < view->rank_count)
				have[plan->owner[best]]--;
			plan->owner[best] = rank;
			have[rank]++;
		}
	}
}

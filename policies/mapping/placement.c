/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* placement.c: exchange ranks in pairs until no exchange relieves the most loaded node. */
#include "policies/mapping/placement.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Most exchanges to look at, some 2 ns each. */
#define MAX_LOOKS UINT64_C(50000000)
/* An exchange must reduce the largest load by this part. */
#define MIN_GAIN 1e-6

/* Ranks by node: those of node N are list[first[N]] .. list[first[N + 1] - 1]. */
struct table {
	unsigned int *list, *first;
	double *load;
	uint64_t looks;
};

/* The best exchange found so far. */
struct exchange {
	unsigned int here, there; /* places in the list */
	double load;		  /* of the more loaded of the two nodes afterwards */
};

double mal_placement_balance(const struct mal_placement *placement, double *load)
{
	double sum = 0, max = 0;
	unsigned int cpus = 0;

	for (unsigned int node = 0; node < placement->node_count; node++)
		load[node] = 0;
	for (unsigned int rank = 0; rank < placement->rank_count; rank++) {
		load[placement->node[rank]] += placement->work[rank];
		sum += placement->work[rank];
	}
	for (unsigned int node = 0; node < placement->node_count; node++) {
		cpus += placement->cpus[node];
		load[node] /= placement->cpus[node];
		max = fmax(max, load[node]);
	}
	return max > 0 ? sum / cpus / max : 1;
}

static void fill(struct table *table, const struct mal_placement *placement)
{
	unsigned int *end = table->first + 1;

	/* Count, sum up, and put each rank at its node's end, from behind. */
	memset(table->first, 0, (placement->node_count + 1) * sizeof(*table->first));
	for (unsigned int rank = 0; rank < placement->rank_count; rank++)
		end[placement->node[rank]]++;
	for (unsigned int node = 1; node < placement->node_count; node++)
		end[node] += end[node - 1];
	memmove(table->first, end, placement->node_count * sizeof(*table->first));
	for (unsigned int rank = placement->rank_count; rank-- > 0;)
		table->list[--table->first[placement->node[rank]]] = rank;
	table->first[placement->node_count] = placement->rank_count;
}

/* Look at all exchanges between node HERE, the more loaded one, and node THERE. */
static void look(struct table *table, const struct mal_placement *placement, unsigned int here,
		 unsigned int there, struct exchange *best)
{
	for (unsigned int i = table->first[here]; i < table->first[here + 1]; i++) {
		for (unsigned int k = table->first[there]; k < table->first[there + 1]; k++) {
			double less =
				placement->work[table->list[i]] - placement->work[table->list[k]];
			double load = fmax(table->load[here] - less / placement->cpus[here],
					   table->load[there] + less / placement->cpus[there]);

			if (load < best->load)
				*best = (struct exchange){i, k, load};
		}
		table->looks += table->first[there + 1] - table->first[there];
	}
}

static void carry_out(struct table *table, struct mal_placement *placement,
		      const struct exchange *exchange)
{
	unsigned int a = table->list[exchange->here], b = table->list[exchange->there];
	unsigned int here = placement->node[a], there = placement->node[b];
	double less = placement->work[a] - placement->work[b];

	table->load[here] -= less / placement->cpus[here];
	table->load[there] += less / placement->cpus[there];
	placement->node[a] = there;
	placement->node[b] = here;
	table->list[exchange->here] = b;
	table->list[exchange->there] = a;
}

static bool improve_once(struct table *table, struct mal_placement *placement)
{
	unsigned int max = 0, min = 0;
	struct exchange best;

	for (unsigned int node = 1; node < placement->node_count; node++) {
		if (table->load[node] > table->load[max])
			max = node;
		if (table->load[node] < table->load[min])
			min = node;
	}
	best.load = table->load[max] * (1 - MIN_GAIN);
	best.here = best.there = UINT32_MAX;
	/* The least loaded node is nearly always the best partner. */
	look(table, placement, max, min, &best);
	for (unsigned int node = 0; best.here == UINT32_MAX && node < placement->node_count; node++)
		if (node != max && table->looks < MAX_LOOKS)
			look(table, placement, max, node, &best);
	if (best.here == UINT32_MAX)
		return false;
	carry_out(table, placement, &best);
	return true;
}

int mal_placement_improve(struct mal_placement *placement)
{
	unsigned int ranks = placement->rank_count, changed = 0;
	unsigned int *before = malloc((ranks + 1) * sizeof(*before));
	struct table table = {
		.list = malloc((ranks + 1) * sizeof(*table.list)),
		.first = malloc((placement->node_count + 1) * sizeof(*table.first)),
		.load = malloc((placement->node_count + 1) * sizeof(*table.load)),
	};
	int result = -1;

	if (placement->node_count < 2 || !ranks)
		result = 0;
	else if (before && table.list && table.first && table.load) {
		memcpy(before, placement->node, ranks * sizeof(*before));
		mal_placement_balance(placement, table.load);
		fill(&table, placement);
		while (table.looks < MAX_LOOKS && improve_once(&table, placement))
			;
		for (unsigned int rank = 0; rank < ranks; rank++)
			changed += before[rank] != placement->node[rank];
		result = (int)changed;
	}
	free(before);
	free(table.list);
	free(table.first);
	free(table.load);
	return result;
}

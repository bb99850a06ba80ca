/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * placement.c: ranks on nodes, with any work. Each node keeps its number of ranks, and the balance
 * must not get worse.
 */
#include <stdlib.h>
#include <string.h>

#include "policies/mapping/placement.h"
#include "t/fuzz/fuzz.h"

#define RANKS 48
#define NODES 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int cpus[NODES], node[RANKS], count[NODES] = {0};
	double work[RANKS], load[NODES], before;
	struct mal_placement placement = {0, 0, work, cpus, node};

	fuzz_begin(data, size);
	placement.node_count = 1 + fuzz_byte() % NODES;
	for (unsigned int i = 0; i < placement.node_count; i++)
		cpus[i] = 1 + fuzz_byte();
	while (fuzz_left && placement.rank_count < RANKS) {
		unsigned int rank = placement.rank_count++;

		node[rank] = fuzz_byte() % placement.node_count;
		count[node[rank]]++;
		/* The extremes that a node may report (controller/report/summaries.c). */
		work[rank] = fuzz_byte() * (fuzz_byte() % 2 ? 1e9 : 1e-9);
	}
	before = mal_placement_balance(&placement, load);
	if (mal_placement_improve(&placement) < 0)
		abort();
	for (unsigned int rank = 0; rank < placement.rank_count; rank++)
		count[node[rank]]--;
	for (unsigned int i = 0; i < placement.node_count; i++)
		if (count[i])
			abort();
	if (mal_placement_balance(&placement, load) < before - 1e-9)
		abort();
	return 0;
}

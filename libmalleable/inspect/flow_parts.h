/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flow_parts.h: the steps of building a graph: walk, cut into blocks, find the loops. */
#ifndef MAL_INSPECT_FLOW_PARTS_H
#define MAL_INSPECT_FLOW_PARTS_H

#include "libmalleable/inspect/flow.h"

struct mal_switch {
	uint64_t address, *targets;
	size_t count;
};

/* Sort the instructions and make blocks of them. Without memory -1. */
int mal_flow_cut(struct mal_flow_graph *graph, const struct mal_switch *switches, size_t count);

/* Order, dominators and loops of the blocks. */
int mal_flow_order(struct mal_flow_graph *graph);

#endif

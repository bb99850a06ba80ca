/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flow.c: questions about a graph of blocks. */
#include "libmalleable/inspect/flow.h"

#include <stdlib.h>
#include <string.h>

int mal_flow_in_loop(const struct mal_flow_graph *graph, int header, uint32_t block)
{
	size_t bit = (size_t)header * graph->block_count + block;

	return graph->members[bit / 8] >> bit % 8 & 1;
}

int mal_flow_dominates(const struct mal_flow_graph *graph, uint32_t above, uint32_t block)
{
	for (;;) {
		int dominator = graph->blocks[block].dominator;

		if (block == above)
			return 1;
		if (dominator < 0 || (uint32_t)dominator == block)
			return 0;
		block = (uint32_t)dominator;
	}
}

void mal_flow_free(struct mal_flow_graph *graph)
{
	for (uint32_t i = 0; i < graph->block_count; i++) {
		free(graph->blocks[i].next);
		free(graph->blocks[i].before);
	}
	free(graph->blocks);
	free(graph->instructions);
	free(graph->order);
	free(graph->members);
	memset(graph, 0, sizeof(*graph));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* live.c: registers that a function takes from its caller: read on some way before written. */
#include <stdlib.h>

#include "libmalleable/inspect/actions.h"
#include "libmalleable/inspect/flow.h"
#include "libmalleable/inspect/program.h"

enum { DEPTH = 4 };

static const uint64_t six = MAL_BIT(MAL_RDI) | MAL_BIT(MAL_RSI) | MAL_BIT(MAL_RDX) |
			    MAL_BIT(MAL_RCX) | MAL_BIT(MAL_R8) | MAL_BIT(MAL_R9);
static const uint64_t vectors = (uint64_t)0xff << MAL_XMM0;

static uint64_t taken_by_call(const struct mal_image *image, const struct mal_instruction *at,
			      unsigned int depth)
{
	const struct mal_slot *slot = mal_call_slot(image, at);
	uint64_t target = mal_call_target(image, at);

	if (target)
		return mal_live_in(image, target, depth + 1);
	/* How many it takes is not known; what is passed on unchanged is among the first. */
	if (!slot || mal_slot_external(slot)->integers == MAL_ANY_ARGUMENTS)
		return MAL_BIT(MAL_RDI) | MAL_BIT(MAL_RSI) | MAL_BIT(MAL_XMM0);
	return mal_external_arguments(mal_slot_external(slot));
}

static uint64_t before(const struct mal_image *image, const struct mal_flow_graph *graph,
		       const struct mal_block *block, uint64_t live, unsigned int depth)
{
	for (uint32_t i = block->count; i-- > 0;) {
		const struct mal_instruction *at = &graph->instructions[block->first + i];
		int calls = at->flow == MAL_FLOW_CALL || at->flow == MAL_FLOW_TAIL ||
			    (at->flow == MAL_FLOW_STOP && (at->slot || at->target));

		if (at->action == MAL_ACTION_CLEAR_SAME && at->operand_count >= 2 &&
		    at->operands[0].reg == at->operands[at->operand_count - 1].reg &&
		    at->operands[at->operand_count - 1].kind == MAL_OPERAND_REGISTER) {
			live &= ~at->writes;
			continue;
		}
		/* A part of a register does not replace it. */
		if (at->operands[0].kind != MAL_OPERAND_REGISTER || at->operands[0].bytes >= 4)
			live &= ~at->writes;
		live |= at->reads;
		/* What pushes only saves. */
		if (calls)
			live = (live & ~(six | vectors)) | taken_by_call(image, at, depth);
	}
	return live;
}

uint64_t mal_live_in(const struct mal_image *image, uint64_t entry, unsigned int depth)
{
	struct mal_flow_graph graph;
	uint64_t *live, result = six | vectors;
	int changed = 1;

	if (depth > DEPTH || mal_flow_build(image, entry, &graph) < 0)
		return result;
	live = graph.trouble ? NULL : calloc((size_t)graph.block_count + 1, sizeof(*live));
	while (live && changed) {
		changed = 0;
		for (uint32_t i = graph.order_count; i-- > 0;) {
			const struct mal_block *block = &graph.blocks[graph.order[i]];
			uint64_t out = 0;

			for (uint32_t j = 0; j < block->next_count; j++)
				out |= live[block->next[j]];
			out = before(image, &graph, block, out, depth);
			changed |= out != live[graph.order[i]];
			live[graph.order[i]] = out;
		}
	}
	if (live)
		result = live[graph.order[0]] & (six | vectors);
	free(live);
	mal_flow_free(&graph);
	return result;
}

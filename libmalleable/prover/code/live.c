/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * live.c: which registers are in use: read on some way before they are written.
 *
 * Invariant: none is left out that is in use: else regions of t/inspect/programs/turns.c, carried.c
 * and passed.c are free that are bound (t/t0011-inspect.t).
 */
#include "libmalleable/prover/code/live.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/actions.h"
#include "libmalleable/prover/code/names.h"

enum { DEPTH = 4 };

const uint8_t mal_arguments[6] = {MAL_RDI, MAL_RSI, MAL_RDX, MAL_RCX, MAL_R8, MAL_R9};
#define GIVEN \
	(MAL_BIT(MAL_RDI) | MAL_BIT(MAL_RSI) | MAL_BIT(MAL_RDX) | MAL_BIT(MAL_RCX) | \
	 MAL_BIT(MAL_R8) | MAL_BIT(MAL_R9) | (uint64_t)0xff << MAL_XMM0)
const uint64_t mal_given = GIVEN;
const uint64_t mal_given_most = GIVEN | MAL_BIT(MAL_RAX) | MAL_BIT(MAL_R10);
const uint64_t mal_saved = MAL_BIT(MAL_RBX) | MAL_BIT(MAL_RBP) | MAL_BIT(MAL_RSP) |
			   MAL_BIT(MAL_R12) | MAL_BIT(MAL_R13) | MAL_BIT(MAL_R14) |
			   MAL_BIT(MAL_R15);

uint64_t mal_taken_by(const struct mal_image *image, const struct mal_instruction *call,
		      uint64_t unknown, unsigned int depth)
{
	const struct mal_slot *slot = mal_call_slot(image, call);
	uint64_t target = mal_call_target(image, call);

	if (target)
		return mal_live_in(image, target, depth);
	if (slot && mal_slot_external(slot)->integers != MAL_ANY_ARGUMENTS)
		return mal_external_arguments(mal_slot_external(slot));
	return unknown;
}

static uint64_t taken_by(const struct mal_live *live, const struct mal_instruction *call)
{
	uint64_t *known = &live->calls[call - live->graph->instructions];

	if (!*known)
		*known = mal_taken_by(live->image, call, live->unknown, live->depth) |
			 MAL_BIT(MAL_REGISTERS);
	return *known & ~MAL_BIT(MAL_REGISTERS);
}

uint64_t mal_live_before(const struct mal_live *live, const struct mal_instruction *at,
			 uint64_t behind)
{
	bool ends = at->flow == MAL_FLOW_TAIL || at->flow == MAL_FLOW_STOP;
	uint64_t reads = at->reads, parts = 0;

	if (at->flow == MAL_FLOW_RETURN)
		return live->returned;
	if (ends)
		behind = live->returned & mal_saved;
	/* A part of a register does not replace it. */
	for (unsigned int i = 0; i < at->operand_count; i++)
		if (at->operands[i].kind == MAL_OPERAND_REGISTER && at->operands[i].bytes < 4 &&
		    at->operands[i].reg != MAL_NO_REGISTER)
			parts |= MAL_BIT(at->operands[i].reg);
	if (at->action == MAL_ACTION_CLEAR_SAME && mal_is_of_one(at) && !parts)
		reads &= at->addressing | MAL_BIT(MAL_FLAGS);
	behind = (behind & ~(at->writes & ~parts)) | reads;
	if (at->flow == MAL_FLOW_CALL || (ends && at->operand_count))
		behind = (behind & ~live->lost) | taken_by(live, at);
	return behind;
}

void mal_live_find(const struct mal_live *live)
{
	const struct mal_flow_graph *graph = live->graph;
	bool changed = 1;

	memset(live->blocks, 0, graph->block_count * sizeof(*live->blocks));
	while (changed) {
		changed = 0;
		for (uint32_t i = graph->order_count; i-- > 0;) {
			const struct mal_block *block = &graph->blocks[graph->order[i]];
			uint64_t now = 0;

			for (uint32_t j = 0; j < block->next_count; j++)
				now |= live->blocks[block->next[j]];
			for (uint32_t j = block->count; j-- > 0;)
				now = mal_live_before(live, &graph->instructions[block->first + j],
						      now);
			changed |= now != live->blocks[graph->order[i]];
			live->blocks[graph->order[i]] = now;
		}
	}
}

int mal_live_make(struct mal_live *live)
{
	live->blocks = calloc((size_t)live->graph->block_count + 1, sizeof(*live->blocks));
	live->calls = calloc((size_t)live->graph->instruction_count + 1, sizeof(*live->calls));
	return live->blocks && live->calls ? 0 : -1;
}

void mal_live_free(struct mal_live *live)
{
	free(live->blocks);
	free(live->calls);
}

uint64_t mal_live_in(const struct mal_image *image, uint64_t entry, unsigned int depth)
{
	struct mal_flow_graph graph;
	/* One that is not known may take any: what this one was given is passed on unchanged. */
	struct mal_live live = {.image = image,
				.graph = &graph,
				.unknown = mal_given,
				.lost = mal_given,
				.depth = depth + 1};
	uint64_t result = mal_given;

	if (depth > DEPTH || mal_flow_build(image, entry, &graph) < 0)
		return result;
	if (!graph.trouble && mal_live_make(&live) == 0) {
		mal_live_find(&live);
		/* What nested functions of GNU are given is in R10. */
		result = live.blocks[graph.order[0]] & (mal_given | MAL_BIT(MAL_R10));
	}
	mal_live_free(&live);
	mal_flow_free(&graph);
	return result;
}

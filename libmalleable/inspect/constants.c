/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * constants.c: follows addresses of functions through registers. Only what holds on every way that
 * leads to a call counts: compilers put calls of several branches together.
 */
#include "libmalleable/inspect/constants.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZYDIS

/* Registers that a call leaves alone. */
static const uint16_t kept = MAL_BIT(MAL_RBX) | MAL_BIT(MAL_RBP) | MAL_BIT(MAL_RSP) |
			     MAL_BIT(MAL_R12) | MAL_BIT(MAL_R13) | MAL_BIT(MAL_R14) |
			     MAL_BIT(MAL_R15);

struct flow {
	const struct mal_flow_graph *graph;
	const uint64_t *entries;
	size_t count;
	/* At the end of each block, and whether a way has come there. */
	struct mal_constants *ends;
	uint8_t *reached;
	mal_constants_at *does;
	void *data;
};

static int is_entry(const struct flow *flow, uint64_t address)
{
	return mal_find_address(flow->entries, flow->count, sizeof(*flow->entries), address) !=
	       NULL;
}

static void set(struct mal_constants *constants, unsigned int reg, uint64_t value)
{
	constants->known |= (uint16_t)MAL_BIT(reg);
	constants->value[reg] = value;
}

static void step(struct mal_constants *constants, const struct mal_instruction *instruction)
{
	const struct mal_operand *to = &instruction->operands[0], *from = &instruction->operands[1];
	uint16_t before = constants->known;

	constants->known &= (uint16_t)~instruction->writes;
	if (to->kind != MAL_OPERAND_REGISTER || to->reg >= 16 || !to->written || to->high ||
	    to->bytes < 4)
		return;
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
		if (from->base == MAL_NO_REGISTER && from->index == MAL_NO_REGISTER)
			set(constants, to->reg, (uint64_t)from->number);
		return;
	case ZYDIS_MNEMONIC_MOV:
		if (from->kind == MAL_OPERAND_NUMBER)
			set(constants, to->reg, (uint64_t)from->number);
		else if (from->kind == MAL_OPERAND_REGISTER && from->reg < 16 &&
			 before & MAL_BIT(from->reg) && to->bytes == 8)
			set(constants, to->reg, constants->value[from->reg]);
		return;
	case ZYDIS_MNEMONIC_XOR:
		if (from->kind == MAL_OPERAND_REGISTER && from->reg == to->reg)
			set(constants, to->reg, 0);
		return;
	default: return;
	}
}

static void pass(const struct flow *flow, uint32_t block, struct mal_constants *constants,
		 int tells)
{
	const struct mal_block *at = &flow->graph->blocks[block];

	for (uint32_t i = 0; i < at->count; i++) {
		const struct mal_instruction *instruction =
			&flow->graph->instructions[at->first + i];

		if (is_entry(flow, instruction->address))
			constants->known = 0;
		switch (instruction->flow) {
		case MAL_FLOW_CALL:
		case MAL_FLOW_STOP:
		case MAL_FLOW_TAIL:
			if (tells)
				flow->does(flow->data, instruction, constants);
			constants->known &= kept;
			break;
		default: step(constants, instruction);
		}
	}
}

/* What is known at the beginning of BLOCK by the ways that have come there so far. */
static struct mal_constants enter(const struct flow *flow, uint32_t block)
{
	const struct mal_block *at = &flow->graph->blocks[block];
	struct mal_constants constants = {0};
	int first = 1;

	/* The function's own entry is a way too. */
	if (flow->graph->instructions[at->first].address == flow->graph->entry)
		return constants;
	for (uint32_t i = 0; i < at->before_count; i++) {
		const struct mal_constants *end = &flow->ends[at->before[i]];

		if (!flow->reached[at->before[i]])
			continue;
		if (first)
			constants = *end;
		first = 0;
		for (unsigned int reg = 0; reg < 16; reg++)
			if (!(end->known & MAL_BIT(reg)) || end->value[reg] != constants.value[reg])
				constants.known &= (uint16_t)~MAL_BIT(reg);
	}
	return constants;
}

static int sweep(const struct flow *flow)
{
	int changed = 0;

	for (uint32_t i = 0; i < flow->graph->order_count; i++) {
		uint32_t block = flow->graph->order[i];
		struct mal_constants constants = enter(flow, block);

		pass(flow, block, &constants, 0);
		if (flow->reached[block] && flow->ends[block].known == constants.known)
			continue;
		flow->ends[block] = constants;
		flow->reached[block] = 1;
		changed = 1;
	}
	return changed;
}

int mal_each_call(const struct mal_flow_graph *graph, const uint64_t *entries, size_t count,
		  mal_constants_at *does, void *data)
{
	struct flow flow = {.graph = graph,
			    .entries = entries,
			    .count = count,
			    .ends = calloc(graph->block_count + 1, sizeof(*flow.ends)),
			    .reached = calloc(graph->block_count + 1, 1),
			    .does = does,
			    .data = data};
	int result = -1;

	if (flow.ends && flow.reached) {
		/* What is known of a block only shrinks. */
		while (sweep(&flow))
			;
		for (uint32_t i = 0; i < graph->order_count; i++) {
			struct mal_constants constants = enter(&flow, graph->order[i]);

			pass(&flow, graph->order[i], &constants, 1);
		}
		result = 0;
	}
	free(flow.ends);
	free(flow.reached);
	return result;
}

#endif

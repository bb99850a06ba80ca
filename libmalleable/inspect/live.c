/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* live.c: registers that are read before they are written, on any way. */
#include "libmalleable/inspect/live.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/walk.h"

#ifdef HAVE_ZYDIS

enum { DEPTH = 6 };

const uint8_t mal_integer_arguments[] = {MAL_RDI, MAL_RSI, MAL_RDX, MAL_RCX, MAL_R8, MAL_R9};

uint64_t mal_arguments(void)
{
	uint64_t all = (uint64_t)0xff << MAL_XMM0;

	for (size_t i = 0; i < sizeof(mal_integer_arguments); i++)
		all |= MAL_BIT(mal_integer_arguments[i]);
	return all;
}

uint64_t mal_arguments_of(const struct mal_external *external)
{
	uint64_t some = 0;

	if (external->integers == MAL_ANY_ARGUMENTS)
		return mal_arguments();
	for (unsigned int i = 0; i < external->integers && i < sizeof(mal_integer_arguments); i++)
		some |= MAL_BIT(mal_integer_arguments[i]);
	return some | (((uint64_t)1 << external->vectors) - 1) << MAL_XMM0;
}

static uint64_t of_call(struct mal_program *program, const struct mal_instruction *instruction,
			int depth, int *stack)
{
	const char *name = mal_call_name(program->image, instruction);
	uint64_t target = mal_call_target(program->image, instruction);
	int other = 0;

	if (name)
		return mal_arguments_of(mal_external(name));
	if (!target || depth >= DEPTH)
		return mal_arguments();
	(void)stack;
	return mal_live_in(program, target, depth + 1, &other);
}

/* Whether the instruction reads the stack above the frame; LOWEST is how far that reaches. */
static int reads_above(const struct mal_instruction *instruction, int64_t *lowest, int *frame)
{
	const struct mal_operand *to = &instruction->operands[0];

	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH: *lowest -= 8; return 0;
	case ZYDIS_MNEMONIC_SUB:
		if (to->reg == MAL_RSP && instruction->operands[1].kind == MAL_OPERAND_NUMBER)
			*lowest -= instruction->operands[1].number;
		return 0;
	case ZYDIS_MNEMONIC_MOV:
		if (to->reg == MAL_RBP && instruction->operands[1].reg == MAL_RSP)
			*frame = 1;
		break;
	default: break;
	}
	for (unsigned int i = 0; i < instruction->operand_count; i++) {
		const struct mal_operand *operand = &instruction->operands[i];

		if (operand->kind != MAL_OPERAND_MEMORY)
			continue;
		if (operand->base == MAL_RSP &&
		    (operand->number + *lowest >= 8 || operand->index != MAL_NO_REGISTER))
			return 1;
		if (operand->base == MAL_RBP && *frame && operand->number >= 16)
			return 1;
	}
	return 0;
}

static uint64_t solve(struct mal_program *program, const struct mal_flow_graph *graph, int depth,
		      int *stack)
{
	uint64_t *live = calloc(graph->block_count + 1, sizeof(*live)), result;
	int64_t lowest = 0;
	int changed = 1, frame = 0;

	if (!live)
		return mal_arguments();
	for (uint32_t i = 0; i < graph->instruction_count; i++)
		*stack |= reads_above(&graph->instructions[i], &lowest, &frame);
	while (changed) {
		changed = 0;
		for (uint32_t i = graph->order_count; i-- > 0;) {
			const struct mal_block *block = &graph->blocks[graph->order[i]];
			uint64_t now = 0;

			for (uint32_t j = 0; j < block->next_count; j++)
				now |= live[block->next[j]];
			for (uint32_t j = block->count; j-- > 0;) {
				const struct mal_instruction *at =
					&graph->instructions[block->first + j];
				uint64_t reads = at->reads;

				if (at->flow == MAL_FLOW_CALL || at->flow == MAL_FLOW_TAIL ||
				    (at->flow == MAL_FLOW_STOP && (at->slot || at->target)))
					reads |= of_call(program, at, depth, stack);
				/* x ^ x reads nothing; partial writes keep the rest. */
				if (at->operand_count == 2 &&
				    at->operands[0].kind == MAL_OPERAND_REGISTER &&
				    at->operands[1].kind == MAL_OPERAND_REGISTER &&
				    at->operands[0].reg == at->operands[1].reg &&
				    (at->mnemonic == ZYDIS_MNEMONIC_XOR ||
				     at->mnemonic == ZYDIS_MNEMONIC_PXOR ||
				     at->mnemonic == ZYDIS_MNEMONIC_XORPS ||
				     at->mnemonic == ZYDIS_MNEMONIC_XORPD))
					reads &= ~MAL_BIT(at->operands[0].reg);
				if (at->flow == MAL_FLOW_NEXT)
					now &= ~at->writes;
				now |= reads;
			}
			if (now != live[graph->order[i]]) {
				live[graph->order[i]] = now;
				changed = 1;
			}
		}
	}
	result = graph->order_count ? live[graph->order[0]] : 0;
	free(live);
	return result & mal_arguments();
}

uint64_t mal_live_in(struct mal_program *program, uint64_t entry, int depth, int *stack)
{
	struct mal_flow_graph graph;
	uint64_t result = mal_arguments();

	for (size_t i = 0; i < program->life_count; i++)
		if (program->lives[i].entry == entry) {
			*stack = program->lives[i].stack;
			return program->lives[i].registers;
		}
	*stack = 1;
	if (depth >= DEPTH || program->life_count == MAL_LIVES)
		return result;
	program->lives[program->life_count++] = (struct mal_life){entry, result, 1};
	if (mal_flow_build(program->image, entry, &graph) < 0)
		return result;
	if (!graph.trouble) {
		*stack = 0;
		result = solve(program, &graph, depth, stack);
	}
	mal_flow_free(&graph);
	for (size_t i = 0; i < program->life_count; i++)
		if (program->lives[i].entry == entry)
			program->lives[i] = (struct mal_life){entry, result, *stack};
	return result;
}

#endif

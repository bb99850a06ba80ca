/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* any.c: what an instruction makes that is not followed, or that may leave a value as it is. */
#include "libmalleable/inspect/actions.h"
#include "libmalleable/inspect/analysis.h"

enum { PARTS = 12 };

void mal_set_flags(struct mal_analysis *analysis, mal_value left, mal_value right)
{
	analysis->state->left = left;
	analysis->state->right = right;
}

void mal_set_result(struct mal_analysis *analysis, mal_value result)
{
	mal_set_flags(analysis, result, mal_number(&analysis->values, 0));
}

void mal_check_counts(struct mal_analysis *analysis)
{
	const struct mal_state *state = analysis->state;

	if (analysis->values.inner && (mal_node(&analysis->values, state->left)->flags |
				       mal_node(&analysis->values, state->right)->flags) &
					      MAL_COUNTED)
		mal_bind(analysis, "a choice by how many iterations a thread has had", NULL);
}

/* Everything that is written depends on everything that is read. */
void mal_step_any(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	struct mal_state *state = analysis->state;
	uint64_t reads = at->reads & ~at->addressing & ~MAL_BIT(MAL_FLAGS), writes = at->writes;
	mal_value parts[PARTS], value;
	size_t count = 0;

	for (unsigned int i = 0; i < at->operand_count; i++)
		if (at->operands[i].kind == MAL_OPERAND_MEMORY && at->operands[i].read)
			parts[count++] = mal_read(analysis, &at->operands[i]);
	for (unsigned int i = 0; i < at->operand_count; i++)
		if (at->operands[i].kind == MAL_OPERAND_REGISTER && at->operands[i].read &&
		    at->operands[i].reg != MAL_NO_REGISTER) {
			parts[count++] = mal_read(analysis, &at->operands[i]);
			reads &= ~MAL_BIT(at->operands[i].reg);
		}
	for (unsigned int reg = 0; reg < MAL_REGISTERS && count < PARTS - 1; reg++)
		if (reads & MAL_BIT(reg))
			parts[count++] = state->registers[reg];
	if (at->reads & MAL_BIT(MAL_FLAGS)) {
		mal_check_counts(analysis);
		parts[count++] = state->left;
		if (count < PARTS)
			parts[count++] = state->right;
	}
	for (size_t i = 0; i < count; i++)
		mal_check_pace(analysis, parts[i]);
	value = (at->action >= MAL_ACTION_PAIR && at->action <= MAL_ACTION_SPREAD
			 ? mal_spread
			 : mal_blur)(&analysis->values, parts, count, at->address * 8);
	for (unsigned int i = 0; i < at->operand_count; i++)
		if (at->operands[i].written) {
			mal_write(analysis, &at->operands[i], value);
			if (at->operands[i].kind == MAL_OPERAND_REGISTER &&
			    at->operands[i].reg != MAL_NO_REGISTER)
				writes &= ~MAL_BIT(at->operands[i].reg);
		}
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if (writes & MAL_BIT(reg) && reg != MAL_FLAGS && reg != MAL_RSP)
			state->registers[reg] = value;
	if (writes & MAL_BIT(MAL_FLAGS))
		mal_set_result(analysis, value);
}

/* A value that is no other than one of the operands, if the other one is neutral. */
void mal_step_neutral(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	unsigned int first = at->operand_count == 3 ? 1 : 0, bytes = at->operands[first].bytes;
	int64_t numbers[2] = {0, 0}, neutral = 0, other = 0;
	mal_value values[2], result;
	int known[2];

	if (at->operand_count < 2) {
		mal_step_any(analysis, at);
		return;
	}
	bytes = at->operands[at->operand_count - 1].bytes == 4 ? 4 : bytes;
	for (unsigned int i = 0; i < 2; i++) {
		values[i] = mal_read(analysis, &at->operands[first + i]);
		known[i] = mal_is_number(&analysis->values, values[i], &numbers[i]);
	}
	switch (at->action) {
	case MAL_ACTION_AND: neutral = other = -1; break;
	case MAL_ACTION_FLOAT_MULTIPLY:
		neutral = 0x3ff0000000000000;
		other = 0x3f800000;
		break;
	case MAL_ACTION_FLOAT_LESS:
		neutral = bytes == 4 ? 0x7f800000 : 0x7ff0000000000000;
		other = bytes == 4 ? 0x7f7fffff : 0x7fefffffffffffff;
		break;
	case MAL_ACTION_FLOAT_MORE:
		neutral = bytes == 4 ? (int32_t)0xff800000 : (int64_t)0xfff0000000000000;
		other = bytes == 4 ? (int32_t)0xff7fffff : (int64_t)0xffefffffffffffff;
		break;
	case MAL_ACTION_FLOAT_ADD: other = INT64_MIN; break;
	default: break;
	}
	if (known[1] && (numbers[1] == neutral || numbers[1] == other))
		result = values[0];
	else if (known[0] && (numbers[0] == neutral || numbers[0] == other))
		result = values[1];
	else if (at->action == MAL_ACTION_AND && known[0] && known[1])
		result = mal_number(&analysis->values, numbers[0] & numbers[1]);
	else if (at->action == MAL_ACTION_AND && mal_combines(analysis) && (known[0] || known[1]))
		result = values[known[0]];
	else if (at->action == MAL_ACTION_AND && known[1] && numbers[1] < 0 &&
		 mal_is_of_bounds(&analysis->values, values[0]) &&
		 mal_is_share(&analysis->values, values[0]) &&
		 !mal_is_place(&analysis->values, values[0]))
		result = mal_leaf(&analysis->values, MAL_SHARE, MAL_ROUNDED);
	else {
		mal_step_any(analysis, at);
		return;
	}
	mal_write(analysis, &at->operands[0], result);
	if (at->writes & MAL_BIT(MAL_FLAGS))
		mal_set_result(analysis, result);
}

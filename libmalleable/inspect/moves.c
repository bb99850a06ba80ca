/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* moves.c: what instructions move, on the stack and many words at once too. */
#include "libmalleable/inspect/actions.h"
#include "libmalleable/inspect/analysis.h"

void mal_step_stack(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	struct mal_values *values = &analysis->values;
	struct mal_state *state = analysis->state;
	mal_value top = state->registers[MAL_RSP], value = 0;
	int64_t offset;

	if (at->action == MAL_ACTION_LEAVE)
		top = state->registers[MAL_RBP];
	offset = mal_node(values, top)->key;
	if (mal_node(values, top)->kind != MAL_STACK) {
		mal_bind(analysis, "a stack that is not understood", NULL);
		return;
	}
	if (at->action == MAL_ACTION_PUSH) {
		value = mal_read(analysis, &at->operands[0]);
		state->registers[MAL_RSP] = mal_leaf(values, MAL_STACK, offset - 8);
		mal_store_slot(analysis, offset - 8, 8, value);
		return;
	}
	value = mal_load_slot(analysis, offset, 8);
	mal_forget_slots(analysis, INT64_MIN / 2, offset + 8);
	state->registers[MAL_RSP] = mal_leaf(values, MAL_STACK, offset + 8);
	if (at->action == MAL_ACTION_LEAVE)
		state->registers[MAL_RBP] = value;
	else
		mal_write(analysis, &at->operands[0], value);
}

/* Words from RSI, or RAX, to RDI: many at once. */
void mal_step_string(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	static const uint8_t registers[] = {MAL_RDI, MAL_RSI, MAL_RCX};
	struct mal_values *values = &analysis->values;
	struct mal_state *state = analysis->state;
	const struct mal_node *to = mal_node(values, state->registers[MAL_RDI]);
	const struct mal_node *count = mal_node(values, state->registers[MAL_RCX]);
	int writes = at->reads & MAL_BIT(MAL_RDI) && !(at->writes & MAL_BIT(MAL_FLAGS));
	mal_value value = at->reads & MAL_BIT(MAL_RSI) ? mal_fresh(analysis, 0, 0)
						       : state->registers[MAL_RAX];

	if (at->reads & MAL_BIT(MAL_RAX))
		mal_check_value(analysis, state->registers[MAL_RAX], "stored");
	for (size_t i = 0; i < 2; i++)
		if (at->reads & MAL_BIT(registers[i]))
			mal_check_address(analysis, state->registers[registers[i]],
					  writes && i == 0);
	if (at->repeat && !mal_is_share(values, state->registers[MAL_RCX]))
		mal_check_value(analysis, state->registers[MAL_RCX], "as a length");
	if (writes && to->kind == MAL_STACK) {
		int64_t bytes =
			count->kind == MAL_NUMBER && count->key < 4096 ? count->key * 8 : MAL_NEAR;

		mal_forget_slots(analysis, to->key, to->key + bytes);
		for (int64_t i = 0; mal_node(values, value)->kind == MAL_NUMBER &&
				    count->kind == MAL_NUMBER && i < bytes && i < 512;
		     i += 8)
			mal_store_slot(analysis, to->key + i, 8, value);
	} else if (writes) {
		mal_effect(analysis, MAL_EFFECT_STORE);
		state->load_count = 0;
	}
	for (size_t i = 0; i < 3; i++)
		if (at->writes & MAL_BIT(registers[i]))
			state->registers[registers[i]] = mal_spread(
				values, &state->registers[registers[i]], 1, at->address * 8 + i);
	if (at->writes & MAL_BIT(MAL_RAX))
		state->registers[MAL_RAX] = mal_fresh(analysis, 4, 0);
	if (at->writes & MAL_BIT(MAL_FLAGS)) {
		state->left = mal_fresh(analysis, 7, 0);
		state->right = mal_number(values, 0);
	}
}

void mal_step_lea(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	mal_value address = mal_address(analysis, &at->operands[1]);

	if (at->operands[0].reg != MAL_RSP)
		mal_escape(analysis, address);
	mal_write(analysis, &at->operands[0], address);
}

/* Whether RBP becomes the frame's: it was pushed just before. */
static int begins_frame(const struct mal_analysis *analysis, const struct mal_instruction *at)
{
	uint8_t before;

	return mal_image_copy(analysis->image, at->address - 1, &before, 1) && before == 0x55;
}

void mal_step_move(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	mal_value value;

	if (at->operand_count != 2) {
		mal_step_string(analysis, at);
		return;
	}
	value = mal_read(analysis, &at->operands[1]);
	if (at->operands[0].kind == MAL_OPERAND_REGISTER &&
	    (at->operands[0].reg != MAL_RBP || !begins_frame(analysis, at)) &&
	    at->operands[1].kind == MAL_OPERAND_REGISTER && at->operands[1].reg == MAL_RSP)
		mal_escape(analysis, value);
	mal_write(analysis, &at->operands[0], value);
}

/* Words in a vector: what differs among threads is the same in all of them. */
void mal_step_lanes(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	struct mal_values *values = &analysis->values;
	unsigned int first = at->operand_count == 3 && at->action == MAL_ACTION_VECTOR_ADD;
	mal_value left = mal_read(analysis, &at->operands[first]);
	mal_value right = mal_read(analysis, &at->operands[first + 1]), result;
	int64_t number;

	if (at->action == MAL_ACTION_SPREAD && at->operand_count == 3)
		left = right;
	if (mal_is_number(values, right, &number) && (int32_t)number == number >> 32)
		right = mal_number(values, (int32_t)number);
	result = at->action == MAL_ACTION_SPREAD ? left : mal_plus(values, left, right);
	if (at->operand_count < 2 || mal_node(values, left)->kind == MAL_SHARE ||
	    mal_node(values, right)->kind == MAL_SHARE ||
	    !(mal_node(values, result)->class % MAL_UNKNOWN) ||
	    (at->action == MAL_ACTION_SPREAD && left != right))
		mal_step_neutral(analysis, at);
	else
		mal_write(analysis, &at->operands[0], result);
}

void mal_step_pair(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	unsigned int first = at->operand_count == 3 ? 1 : 0;
	mal_value low = mal_read(analysis, &at->operands[first]);
	mal_value high = mal_read(analysis, &at->operands[first + 1]);

	if (low && high && low != high)
		mal_write(analysis, &at->operands[0],
			  mal_make(&analysis->values, MAL_PAIR, 0, low, high, 0));
	else
		mal_step_any(analysis, at);
}

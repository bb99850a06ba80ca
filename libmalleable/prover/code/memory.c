/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memory.c: reads and writes registers and memory; what moves on the stack, or many words at once.
 */
#include <string.h>

#include "libmalleable/prover/code/actions.h"
#include "libmalleable/prover/code/analysis.h"

mal_value mal_address(struct mal_analysis *analysis, const struct mal_operand *operand)
{
	struct mal_values *values = &analysis->values;
	mal_value address = mal_number(values, operand->number);

	if (operand->index != MAL_NO_REGISTER) {
		mal_value index = analysis->state->registers[operand->index];
		int64_t scale = operand->scale, number;

		if (mal_is_number(values, index, &number))
			index = mal_number(values, number * scale);
		else if (scale != 1)
			index = mal_make(values, MAL_MULTIPLY, 0, index, mal_number(values, scale),
					 0);
		address = mal_plus(values, index, address);
	}
	if (operand->base != MAL_NO_REGISTER)
		address = mal_plus(values, analysis->state->registers[operand->base], address);
	return address;
}

/* An array in the frame: where it begins, if ADDRESS is an element of it. */
static bool in_frame(struct mal_analysis *analysis, const struct mal_operand *operand,
		     int64_t *begin)
{
	const uint8_t registers[] = {operand->base, operand->index};

	for (size_t i = 0; i < 2; i++) {
		const struct mal_node *node;

		if (registers[i] == MAL_NO_REGISTER)
			continue;
		node = mal_node(&analysis->values, analysis->state->registers[registers[i]]);
		if (node->kind == MAL_STACK && (i == 0 || operand->scale <= 1)) {
			*begin = node->key + operand->number;
			return 1;
		}
	}
	return 0;
}

/* An element of an array in the frame: what is near may be it. */
static mal_value load_near(struct mal_analysis *analysis, int64_t begin)
{
	struct mal_state *state = analysis->state;
	mal_value zero = mal_number(&analysis->values, 0);
	int64_t zeros = 0, others = 0;

	for (uint32_t i = 0; i < state->slot_count; i++) {
		const struct mal_stack_slot *slot = &state->slots[i];

		if (slot->offset < begin || slot->offset >= begin + MAL_NEAR)
			continue;
		if (!mal_has_offset(&analysis->filled, slot->offset) &&
		    mal_node(&analysis->values, slot->value)->class)
			return mal_blur(&analysis->values, &slot->value, 1,
					analysis->at->address * 8 + 3);
		/* Side by side. */
		if (slot->offset == begin + zeros + others) {
			*(slot->value == zero ? &zeros : &others) += slot->bytes;
		}
	}
	/* An array that was set to zero whole. */
	return analysis->without && zeros >= 16 && !others ? zero
							   : mal_fresh(analysis, 3, MAL_ROUNDS);
}

/* What constant memory holds: a number where all its parts are the same. */
static bool load_constant(struct mal_analysis *analysis, uint64_t address, unsigned int bytes,
			  mal_value *value)
{
	uint8_t data[64];
	int64_t number = 0;
	int32_t half;

	if (!mal_image_constant(analysis->image, address) ||
	    mal_image_slot(analysis->image, address) || bytes < 4 || bytes > sizeof(data) ||
	    bytes % 4 || !mal_image_copy(analysis->image, address, data, bytes))
		return 0;
	memcpy(&half, data, sizeof(half));
	number = half;
	if (bytes >= 8)
		memcpy(&number, data, sizeof(number));
	/* Only the lower half may be used. */
	if (bytes > 8 && memcmp(data, data + 8, bytes - 8) != 0 &&
	    memcmp(data + 8, "\0\0\0\0\0\0\0", 8) != 0)
		return 0;
	*value = mal_number(&analysis->values, number);
	return 1;
}

/* An address by the memory that it is read from, whichever instruction read it. */
static mal_value canonical(struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value);
	mal_value a;

	if (node->kind == MAL_SYMBOL && node->a)
		return mal_loaded(values, (uint64_t)1 << 60, 0, node->a);
	if (node->kind != MAL_ADD && node->kind != MAL_MULTIPLY)
		return value;
	a = canonical(values, node->a);
	node = mal_node(values, value);
	return mal_make(values, (enum mal_kind)node->kind, 0, a, canonical(values, node->b), 0);
}

static mal_value load(struct mal_analysis *analysis, const struct mal_operand *operand)
{
	struct mal_state *state = analysis->state;
	mal_value address = mal_address(analysis, operand), value;
	const struct mal_node *node = mal_node(&analysis->values, address);
	uint32_t flags;
	int64_t begin;

	if (analysis->at->thread_local_)
		return mal_fresh(analysis, 1, 0);
	if (node->kind == MAL_STACK)
		return mal_load_slot(analysis, node->key, operand->bytes);
	mal_check_address(analysis, address, 0);
	if (in_frame(analysis, operand, &begin))
		return load_near(analysis, begin);
	if (node->kind == MAL_NUMBER) {
		const struct mal_slot *slot = mal_image_slot(analysis->image, (uint64_t)node->key);

		if (slot && slot->kind == MAL_SLOT_ADDRESS && operand->bytes == 8)
			return mal_number(&analysis->values, (int64_t)slot->value);
		if (slot)
			return mal_leaf(&analysis->values, MAL_SLOT_VALUE, node->key);
		if (load_constant(analysis, (uint64_t)node->key, operand->bytes, &value))
			return value;
	}
	if (mal_is_off(&analysis->values, address))
		return mal_blur(&analysis->values, &address, 1, analysis->at->address * 8 + 1);
	mal_share_place(analysis, operand, address, 0);
	for (uint32_t i = 0; i < state->load_count; i++)
		if (state->load_addresses[i] == address)
			return state->loads[i];
	flags = mal_flags(&analysis->values, address);
	mal_share_load(analysis, address);
	value = mal_loaded(&analysis->values, analysis->at->address * 8 + 1,
			   (node->class ? MAL_ITEM | (flags & MAL_VARIES) : flags & MAL_ITEM) |
				   (mal_is_edge(&analysis->values, address) &&
						    !mal_stepped_by(analysis, address)
					    ? MAL_PLACE
					    : 0) |
				   (flags & MAL_OWN ? MAL_CARRIED : 0) |
				   ((flags | flags >> 6) & MAL_ALL_GIVEN) << 6,
			   node->class || node->flags & MAL_CARRIED
				   ? 0
				   : canonical(&analysis->values, address));
	if (address && state->load_count < MAL_LOADS) {
		state->load_addresses[state->load_count] = address;
		state->loads[state->load_count++] = value;
	}
	return value;
}

mal_value mal_read(struct mal_analysis *analysis, const struct mal_operand *operand)
{
	const struct mal_node *node;
	mal_value value;

	switch (operand->kind) {
	case MAL_OPERAND_NUMBER: return mal_number(&analysis->values, operand->number);
	case MAL_OPERAND_MEMORY: return load(analysis, operand);
	case MAL_OPERAND_REGISTER: break;
	default: return mal_tells(&analysis->values, "an operand that is not understood");
	}
	if (operand->reg == MAL_NO_REGISTER)
		return mal_fresh(analysis, 4, 0);
	value = analysis->state->registers[operand->reg];
	node = mal_node(&analysis->values, value);
	if (operand->reg >= 16 || operand->bytes >= 4)
		return value;
	if (node->kind == MAL_NUMBER && operand->bytes == 1 && !operand->high)
		return mal_number(&analysis->values, (int64_t)((uint64_t)node->key & 0xff));
	/* Truths are narrow anyway. */
	if (node->kind == MAL_CHOSEN || node->kind == MAL_COMPARE || node->kind == MAL_STACK ||
	    mal_combines(analysis))
		return value;
	return mal_fold_in(analysis,
			   mal_blur(&analysis->values, &value, 1, analysis->at->address * 8 + 5),
			   MAL_LEFT);
}

/* Whether memory at ADDRESS is VALUE already. */
static bool is_there(const struct mal_state *state, mal_value address, mal_value value)
{
	for (uint32_t i = 0; i < state->load_count; i++)
		if (state->load_addresses[i] == address && state->loads[i] == value)
			return 1;
	return 0;
}

static void store(struct mal_analysis *analysis, const struct mal_operand *operand, mal_value value)
{
	struct mal_state *state = analysis->state;
	mal_value address = mal_address(analysis, operand);
	const struct mal_node *node = mal_node(&analysis->values, address);
	int64_t begin;

	if (node->kind == MAL_STACK) {
		mal_store_slot(analysis, node->key, operand->bytes, value);
		return;
	}
	mal_check_address(analysis, address, 1);
	mal_check_first(analysis, address);
	mal_escape(analysis, value);
	/* Where loops within each other begin. */
	if (!(mal_node(&analysis->values, value)->flags & MAL_INDEX) ||
	    node->key != mal_node(&analysis->values, value)->key)
		mal_check_value(analysis, value, "stored");
	if (in_frame(analysis, operand, &begin)) {
		mal_forget_slots(analysis, begin, begin + MAL_NEAR);
		return;
	}
	mal_effect(analysis, MAL_EFFECT_STORE);
	mal_share_store(analysis, address);
	mal_share_place(analysis, operand, address, 1);
	mal_share_value(analysis, address, value);
	analysis->facts[analysis->block].stored = canonical(&analysis->values, address);
	mal_check_history(analysis, value);
	if (analysis->without && state->protected_) {
		const struct mal_node *pair = mal_node(&analysis->values, value);
		mal_value behind;

		if (is_there(state, address, value))
			return;
		behind = mal_plus(&analysis->values, address, mal_number(&analysis->values, 8));
		if (pair->kind == MAL_PAIR && is_there(state, address, pair->a) &&
		    is_there(state, behind, mal_node(&analysis->values, value)->b))
			return;
		mal_mark_bound(analysis, "every thread changes what all add up", NULL);
	}
	state->load_count = 0;
}

void mal_write(struct mal_analysis *analysis, const struct mal_operand *operand, mal_value value)
{
	struct mal_state *state = analysis->state;
	int64_t number;

	if (operand->kind == MAL_OPERAND_MEMORY) {
		store(analysis, operand, value);
		return;
	}
	if (operand->kind != MAL_OPERAND_REGISTER || operand->reg == MAL_NO_REGISTER)
		return;
	if (operand->reg < 16 && operand->bytes < 4) {
		mal_value old = state->registers[operand->reg];
		const struct mal_node *before = mal_node(&analysis->values, old);
		int64_t mask = operand->bytes == 1 ? 0xff : 0xffff;

		/* What is above is rarely used; where it is, it is one of both. */
		if (before->kind == MAL_NUMBER && mal_is_number(&analysis->values, value, &number))
			value = mal_number(&analysis->values,
					   (before->key & ~mask) | (number & mask));
		else if (before->class >= MAL_IDENTITY && !operand->high &&
			 mal_node(&analysis->values, value)->class == MAL_CLEAN)
			value = mal_blur(&analysis->values, &value, 1,
					 analysis->at->address * 8 + 6);
		else if (operand->high)
			value = mal_blur(&analysis->values, (mal_value[]){old, value}, 2,
					 analysis->at->address * 8 + 6);
	} else if (operand->reg < 16 && operand->bytes == 4 &&
		   mal_is_number(&analysis->values, value, &number)) {
		value = mal_number(&analysis->values, (int32_t)number);
	}
	state->registers[operand->reg] = value;
}

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
		mal_mark_bound(analysis, "a stack that is not understood", NULL);
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

void mal_write_many(struct mal_analysis *analysis, mal_value to, mal_value value, int64_t bytes)
{
	const struct mal_node *target = mal_node(&analysis->values, to);
	int known = bytes > 0 && mal_node(&analysis->values, value)->kind == MAL_NUMBER;

	if (target->kind == MAL_STACK) {
		mal_forget_slots(analysis, target->key, target->key + (bytes ? bytes : MAL_NEAR));
		for (int64_t i = 0; known && i + 8 <= bytes && i < 512; i += 8)
			mal_store_slot(analysis, mal_node(&analysis->values, to)->key + i, 8,
				       value);
		return;
	}
	mal_effect(analysis, MAL_EFFECT_STORE);
	mal_share_store(analysis, to);
	analysis->state->load_count = 0;
	if (analysis->without && analysis->state->protected_)
		mal_mark_bound(analysis, "every thread changes what all add up", NULL);
}

/* Words from RSI, or RAX, to RDI: many at once. */
void mal_step_string(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	static const uint8_t registers[] = {MAL_RDI, MAL_RSI, MAL_RCX};
	struct mal_values *values = &analysis->values;
	struct mal_state *state = analysis->state;
	const struct mal_node *count = mal_node(values, state->registers[MAL_RCX]);
	int writes = at->reads & MAL_BIT(MAL_RDI) && !(at->writes & MAL_BIT(MAL_FLAGS));
	mal_value value = at->reads & MAL_BIT(MAL_RSI) ? mal_fresh(analysis, 0, 0)
						       : state->registers[MAL_RAX];

	if (at->reads & MAL_BIT(MAL_RAX)) {
		mal_check_value(analysis, state->registers[MAL_RAX], "stored");
		mal_check_history(analysis, state->registers[MAL_RAX]);
	}
	for (size_t i = 0; i < 2; i++)
		if (at->reads & MAL_BIT(registers[i]))
			mal_check_address(analysis, state->registers[registers[i]],
					  writes && i == 0);
	if (at->repeat)
		mal_check_length(analysis, state->registers[MAL_RCX], at->operands[0].bytes,
				 state->registers[MAL_RDI],
				 at->reads & MAL_BIT(MAL_RSI) ? state->registers[MAL_RSI] : 0);
	if (writes)
		mal_write_many(analysis, state->registers[MAL_RDI], value,
			       count->kind == MAL_NUMBER && count->key < 4096 ? count->key * 8 : 0);
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

void mal_step_move(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	mal_value value = mal_read(analysis, &at->operands[1]);

	if (at->operands[0].kind == MAL_OPERAND_REGISTER &&
	    at->operands[1].kind == MAL_OPERAND_REGISTER && at->operands[1].reg == MAL_RSP)
		mal_escape(analysis, value);
	mal_write(analysis, &at->operands[0], value);
}

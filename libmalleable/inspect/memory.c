/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memory.c: reads and writes registers and memory, and checks what others may see. */
#include <stdio.h>
#include <string.h>

#include "libmalleable/inspect/analysis.h"

void mal_bind(struct mal_analysis *analysis, const char *reason, const char *symbol)
{
	struct mal_finding *finding = analysis->finding;

	if (!analysis->final || finding->reason[0])
		return;
	snprintf(finding->reason, sizeof(finding->reason), symbol ? "%s: %s" : "%s", reason,
		 symbol);
	finding->where = analysis->at ? analysis->at->address : 0;
}

mal_value mal_fresh(struct mal_analysis *analysis, unsigned int which, uint8_t flags)
{
	return mal_symbol(&analysis->values, analysis->at->address * 8 + which, flags);
}

void mal_effect(struct mal_analysis *analysis, unsigned int effect)
{
	analysis->facts[analysis->block].effects |= (uint8_t)effect;
}

/* The first block of the loop of iterations that steps VALUE, or NULL. */
static struct mal_block_facts *stepped_by(const struct mal_analysis *analysis, mal_value value)
{
	const struct mal_node *node = mal_node(&analysis->values, value);
	const mal_value parts[] = {node->a, node->b, node->c};
	struct mal_block_facts *found = NULL;
	uint32_t block = (uint32_t)(node->key >> 40) & 0x3fffff;

	if ((node->kind == MAL_STEP || node->kind == MAL_SYMBOL) && node->key >> 62 == 1 &&
	    block < analysis->graph.block_count && analysis->facts[block].header)
		found = &analysis->facts[block];
	for (size_t i = 0; i < 3 && !found && node->kind != MAL_SYMBOL; i++)
		found = parts[i] ? stepped_by(analysis, parts[i]) : NULL;
	return found;
}

void mal_check_pace(struct mal_analysis *analysis, mal_value value)
{
	struct mal_block_facts *loop;
	int counts = 0;
	int64_t pace;

	if (!analysis->final || analysis->without)
		return;
	loop = stepped_by(analysis, value);
	if (!loop)
		return;
	pace = mal_pace(&analysis->values, value, &counts);
	if (!pace)
		return;
	if (!loop->paces[counts])
		loop->paces[counts] = pace;
	if (pace == MAL_NO_PACE || loop->paces[counts] != pace ||
	    (loop->paces[0] && loop->paces[1] && loop->paces[0] != loop->paces[1] &&
	     loop->paces[0] != -loop->paces[1]))
		mal_bind(analysis, "another pace than that of a thread's iterations", NULL);
}

int mal_check_value(struct mal_analysis *analysis, mal_value value, const char *as)
{
	const struct mal_node *node = mal_node(&analysis->values, value);
	char text[160];

	mal_check_pace(analysis, value);
	if (node->class == MAL_UNKNOWN)
		snprintf(text, sizeof(text), "%s %s", node->text, as);
	else if (node->class == MAL_IDENTITY)
		snprintf(text, sizeof(text), "%s %s",
			 node->kind == MAL_CHOSEN ? "what chooses one thread"
						  : "a thread's number, or how many there are,",
			 as);
	else if (mal_is_of_bounds(&analysis->values, value))
		snprintf(text, sizeof(text), "the bounds of a thread's iterations %s", as);
	else if (!node->class && node->flags & MAL_PLACE &&
		 (analysis->values.inner || analysis->at->lock))
		snprintf(text, sizeof(text), "read at the bounds of a thread's iterations, %s", as);
	else if (analysis->without && (node->class || node->flags & MAL_ITEM))
		snprintf(text, sizeof(text), "a thread's own iterations %s outside a loop", as);
	else
		return 1;
	mal_bind(analysis, text, NULL);
	return 0;
}

void mal_check_address(struct mal_analysis *analysis, mal_value address, int store)
{
	const struct mal_node *node = mal_node(&analysis->values, address);

	mal_check_pace(analysis, address);
	mal_effect(analysis, node->class ? MAL_EFFECT_ITEM : 0);
	if (node->class == MAL_IDENTITY) {
		if (!mal_is_share(&analysis->values, address) ||
		    (mal_shape_of(&analysis->values, address)->shape == MAL_SHAPE_BLOCK &&
		     mal_shape_of(&analysis->values, address)->start == 0))
			mal_check_value(analysis, address, "as an address");
		else if (store && !analysis->state->few)
			mal_effect(analysis, MAL_EFFECT_BOUND);
	} else if (node->class == MAL_UNKNOWN) {
		mal_check_value(analysis, address, "as an address");
	} else if (store && (mal_is_off(&analysis->values, address) ||
			     (analysis->values.inner && mal_is_edge(&analysis->values, address)))) {
		mal_check_value(analysis, address, "as an address");
	} else if (node->class == MAL_CLEAN && node->flags & MAL_CARRIED) {
		mal_bind(analysis, "a value carried between iterations as an address", NULL);
	}
	if (analysis->without && store && node->class)
		mal_check_value(analysis, address, "as an address");
}

mal_value mal_address(struct mal_analysis *analysis, const struct mal_operand *operand)
{
	struct mal_values *values = &analysis->values;
	mal_value address = mal_number(values, operand->number);

	if (operand->index != MAL_NO_REGISTER) {
		mal_value index = analysis->state->registers[operand->index];
		int64_t scale = operand->scale ? operand->scale : 1, number;

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
static int in_frame(struct mal_analysis *analysis, const struct mal_operand *operand,
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
		int filled = 0;

		if (slot->offset < begin || slot->offset >= begin + MAL_NEAR)
			continue;
		for (uint32_t j = 0; j < analysis->filled_count; j++)
			filled |= analysis->filled[j] == slot->offset;
		if (!filled && mal_node(&analysis->values, slot->value)->class)
			return mal_blur(&analysis->values, &slot->value, 1,
					analysis->at->address * 8 + 3);
		/* Side by side. */
		if (slot->offset == begin + zeros + others) {
			*(slot->value == zero ? &zeros : &others) += slot->bytes;
		}
	}
	/* An array that was set to zero whole. */
	return analysis->without && zeros >= 16 && !others ? zero : mal_fresh(analysis, 3, 0);
}

/* What constant memory holds: a number where all its parts are the same. */
static int load_constant(struct mal_analysis *analysis, uint64_t address, unsigned int bytes,
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
	for (uint32_t i = 0; i < state->load_count; i++)
		if (state->load_addresses[i] == address)
			return state->loads[i];
	value = mal_loaded(
		&analysis->values, analysis->at->address * 8 + 1,
		(uint8_t)((node->class ? MAL_ITEM : 0) | (node->flags & MAL_ITEM) |
			  (mal_is_edge(&analysis->values, address) && !stepped_by(analysis, address)
				   ? MAL_PLACE
				   : 0) |
			  (node->flags & MAL_OWN ? MAL_CARRIED : 0)),
		node->class || node->flags & MAL_CARRIED ? 0
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
	return mal_blur(&analysis->values, &value, 1, analysis->at->address * 8 + 5);
}

/* Whether memory at ADDRESS is VALUE already. */
static int is_there(const struct mal_state *state, mal_value address, mal_value value)
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
	analysis->facts[analysis->block].stored = canonical(&analysis->values, address);
	if (analysis->facts[analysis->block].shared &&
	    mal_node(&analysis->values, value)->flags & MAL_COUNTED)
		mal_bind(analysis, "how many iterations a thread has had, stored", NULL);
	if (analysis->without && state->protected_) {
		const struct mal_node *pair = mal_node(&analysis->values, value);
		mal_value behind;

		if (is_there(state, address, value))
			return;
		behind = mal_plus(&analysis->values, address, mal_number(&analysis->values, 8));
		if (pair->kind == MAL_PAIR && is_there(state, address, pair->a) &&
		    is_there(state, behind, mal_node(&analysis->values, value)->b))
			return;
		mal_bind(analysis, "every thread changes what all add up", NULL);
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
			value = mal_fresh(analysis, 6, 0);
		else if (operand->high)
			value = mal_blur(&analysis->values, (mal_value[]){old, value}, 2,
					 analysis->at->address * 8 + 6);
	} else if (operand->reg < 16 && operand->bytes == 4 &&
		   mal_is_number(&analysis->values, value, &number)) {
		value = mal_number(&analysis->values, (int32_t)number);
	}
	state->registers[operand->reg] = value;
}

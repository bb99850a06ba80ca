/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state.c: what is known of a thread's stack. */
#include <string.h>

#include "libmalleable/inspect/analysis.h"

static const char private_memory[] = "private memory that cannot be followed";

int mal_is_stack(const struct mal_values *values, mal_value value, uint32_t *base, int64_t *offset,
		 int *exact)
{
	const struct mal_form *form = &values->forms[value];

	if (form->kind != MAL_LINEAR)
		return 0;
	for (unsigned int i = 0; i < form->count; i++)
		if (values->symbols[form->terms[i].symbol].class == MAL_STACK) {
			*base = form->terms[i].symbol;
			*offset = form->constant;
			*exact = form->count == 1 && form->terms[i].times == 1 &&
				 form->terms[i].factor == 0 && form->constant > INT32_MIN / 2 &&
				 form->constant < INT32_MAX / 2;
			return 1;
		}
	return 0;
}

static int overlaps(const struct mal_stack_slot *slot, uint32_t base, int64_t offset,
		    uint32_t bytes)
{
	return slot->base == base && slot->offset < offset + bytes &&
	       offset < (int64_t)slot->offset + slot->bytes;
}

/* A part of what a slot holds, or of several. */
static mal_value part_of(struct mal_analysis *analysis, mal_value value)
{
	const struct mal_form *form = &analysis->values.forms[value];
	int64_t number;

	if (form->kind == MAL_PARTIAL || form->kind == MAL_TAINT)
		return value;
	if (mal_is_number(&analysis->values, value, &number) && number == 0)
		return value;
	return mal_mixed(analysis, &value, 1, 300);
}

mal_value mal_load_slot(struct mal_analysis *analysis, uint32_t base, int32_t offset,
			uint32_t bytes)
{
	const struct mal_state *state = analysis->state;
	mal_value sum = 0;
	uint32_t covered = 0;

	for (uint32_t i = 0; i < state->slot_count; i++) {
		const struct mal_stack_slot *slot = &state->slots[i];
		mal_value part;

		if (!overlaps(slot, base, offset, bytes))
			continue;
		/* Half of a number of 64 bits is its low part at the same place. */
		if (slot->offset == offset && bytes <= slot->bytes &&
		    (bytes == slot->bytes || (bytes >= 4 && slot->bytes <= 8)))
			return slot->value;
		part = part_of(analysis, slot->value);
		if (slot->offset >= offset && slot->offset + slot->bytes <= offset + bytes)
			covered += slot->bytes;
		else if (slot->offset <= offset && slot->offset + slot->bytes >= offset + bytes)
			return part;
		else
			return mal_taint(&analysis->values, private_memory);
		if (!sum)
			sum = part;
		else if (sum != part)
			sum = mal_mixed(analysis, (mal_value[]){sum, part}, 2, 301);
	}
	if (sum && covered == bytes)
		return sum;
	/* Arguments that the caller put there. */
	if (!sum && base == analysis->stack && offset >= 8)
		return mal_fresh(analysis, MAL_CLEAN, 302);
	return mal_taint(&analysis->values, private_memory);
}

static void remove_slot(struct mal_state *state, uint32_t number)
{
	memmove(&state->slots[number], &state->slots[number + 1],
		(state->slot_count - number - 1) * sizeof(state->slots[0]));
	state->slot_count--;
}

void mal_store_slot(struct mal_analysis *analysis, uint32_t base, int32_t offset, uint32_t bytes,
		    mal_value value)
{
	struct mal_state *state = analysis->state;
	uint32_t at = 0;

	for (uint32_t i = 0; i < state->slot_count;) {
		struct mal_stack_slot *slot = &state->slots[i];
		struct mal_stack_slot old = *slot;

		if (!overlaps(slot, base, offset, bytes)) {
			i++;
			continue;
		}
		remove_slot(state, i);
		/* What is left of a wide one on either side keeps a part of its value. */
		old.value = part_of(analysis, old.value);
		if (old.offset < offset && state->slot_count < MAL_SLOTS) {
			memmove(&state->slots[i + 1], &state->slots[i],
				(state->slot_count++ - i) * sizeof(state->slots[0]));
			state->slots[i] = old;
			state->slots[i].bytes = (uint32_t)(offset - old.offset);
			i++;
		}
		if ((int64_t)old.offset + old.bytes > (int64_t)offset + bytes &&
		    state->slot_count < MAL_SLOTS) {
			memmove(&state->slots[i + 1], &state->slots[i],
				(state->slot_count++ - i) * sizeof(state->slots[0]));
			state->slots[i] = old;
			state->slots[i].offset = offset + (int32_t)bytes;
			state->slots[i].bytes =
				(uint32_t)((int64_t)old.offset + old.bytes - offset - bytes);
			i++;
		}
	}
	if (state->slot_count == MAL_SLOTS) {
		analysis->values.full = 1;
		return;
	}
	while (at < state->slot_count &&
	       (state->slots[at].base < base ||
		(state->slots[at].base == base && state->slots[at].offset < offset)))
		at++;
	memmove(&state->slots[at + 1], &state->slots[at],
		(state->slot_count - at) * sizeof(state->slots[0]));
	state->slot_count++;
	state->slots[at] = (struct mal_stack_slot){
		.base = base, .offset = offset, .bytes = bytes, .value = value};
}

void mal_forget_slots(struct mal_analysis *analysis, uint32_t base, int64_t from, int64_t to)
{
	struct mal_state *state = analysis->state;

	for (uint32_t i = 0; i < state->slot_count;)
		if (state->slots[i].base == base && state->slots[i].offset < to &&
		    (int64_t)state->slots[i].offset + state->slots[i].bytes > from)
			remove_slot(state, i);
		else
			i++;
}

void mal_forget_around(struct mal_analysis *analysis, mal_value address, uint32_t bytes)
{
	const struct mal_form *form = &analysis->values.forms[address];
	int64_t from = form->constant, to = form->constant + bytes;
	uint32_t base = 0;

	for (unsigned int i = 0; i < form->count; i++) {
		const struct mal_term *term = &form->terms[i];
		const struct mal_symbol *symbol = &analysis->values.symbols[term->symbol];

		if (symbol->class == MAL_STACK && !base && term->times == 1 && !term->factor) {
			base = term->symbol;
			continue;
		}
		/* Rounds of a loop only add; of what is not known anything can come. */
		if (symbol->role != 1 || symbol->extra != symbol->block || term->factor ||
		    term->times < 0)
			from = INT64_MIN;
		if (symbol->role != 1 || symbol->extra != symbol->block || term->factor ||
		    term->times > 0)
			to = INT64_MAX;
	}
	if (base)
		mal_forget_slots(analysis, base, from, to);
	else
		analysis->state->slot_count = 0;
}

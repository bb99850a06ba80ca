/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stack.c: what the frame holds, and what others may have written there. */
#include <string.h>

#include "libmalleable/prover/code/analysis.h"

uint32_t mal_slot_at(const struct mal_state *state, int64_t offset)
{
	uint32_t low = 0, high = state->slot_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (state->slots[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void mal_forget_slots(struct mal_analysis *analysis, int64_t from, int64_t to)
{
	struct mal_state *state = analysis->state;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->slot_count; i++) {
		const struct mal_stack_slot *slot = &state->slots[i];

		if (slot->offset + slot->bytes <= from || slot->offset >= to)
			state->slots[kept++] = *slot;
	}
	state->slot_count = kept;
}

bool mal_has_offset(const struct mal_offsets *some, int64_t offset)
{
	for (uint32_t i = 0; i < some->count; i++)
		if (some->list[i] == offset)
			return true;
	return false;
}

void mal_add_offset(struct mal_analysis *analysis, struct mal_offsets *to, int64_t offset)
{
	if (mal_has_offset(to, offset))
		return;
	if (to->count == MAL_ESCAPES)
		analysis->values.full = 1;
	else
		to->list[to->count++] = offset;
}

/* Zeros of which only the first or the last ones are replaced. */
static void keep_rest(struct mal_analysis *analysis, int64_t offset, uint32_t bytes)
{
	struct mal_state *state = analysis->state;

	for (uint32_t i = 0; i < state->slot_count; i++) {
		struct mal_stack_slot slot = state->slots[i];
		int64_t end = slot.offset + slot.bytes;

		if (slot.value != mal_number(&analysis->values, 0) || end <= offset ||
		    slot.offset >= offset + bytes || slot.bytes <= bytes)
			continue;
		mal_forget_slots(analysis, slot.offset, end);
		if (slot.offset < offset)
			mal_store_slot(analysis, slot.offset, (uint32_t)(offset - slot.offset),
				       slot.value);
		if (end > offset + bytes)
			mal_store_slot(analysis, offset + bytes, (uint32_t)(end - offset - bytes),
				       slot.value);
		return;
	}
}

void mal_store_slot(struct mal_analysis *analysis, int64_t offset, uint32_t bytes, mal_value value)
{
	struct mal_state *state = analysis->state;
	const struct mal_node *node = mal_node(&analysis->values, value);
	uint32_t at;

	/* Words of zeros are zeros each. */
	if (bytes > 8 && bytes <= 64 && bytes % 8 == 0 && node->kind == MAL_NUMBER) {
		for (uint32_t i = 0; i < bytes; i += 8)
			mal_store_slot(analysis, offset + i, 8, value);
		return;
	}
	keep_rest(analysis, offset, bytes);
	mal_forget_slots(analysis, offset, offset + bytes);
	if (state->slot_count == MAL_SLOTS) {
		if (node->class >= MAL_IDENTITY)
			analysis->values.full = 1;
		return;
	}
	at = mal_slot_at(state, offset);
	memmove(&state->slots[at + 1], &state->slots[at],
		(state->slot_count - at) * sizeof(*state->slots));
	state->slots[at] = (struct mal_stack_slot){offset, bytes, value};
	state->slot_count++;
	if (!analysis->final || node->class < MAL_IDENTITY)
		return;
	for (uint32_t i = 0; i < analysis->escapes.count; i++)
		if (offset >= analysis->escapes.list[i] &&
		    offset < analysis->escapes.list[i] + 64 &&
		    (offset == analysis->escapes.list[i] ||
		     !mal_has_offset(&analysis->scalars, offset)))
			mal_check_value(analysis, value, "in memory whose address is passed on");
}

mal_value mal_load_slot(struct mal_analysis *analysis, int64_t offset, uint32_t bytes)
{
	struct mal_state *state = analysis->state;
	uint32_t at = mal_slot_at(state, offset);
	mal_value parts[16];
	size_t count = 0;
	bool same = true;

	if (at < state->slot_count && state->slots[at].offset == offset &&
	    (state->slots[at].bytes == bytes ||
	     (bytes >= 4 && bytes < state->slots[at].bytes && state->slots[at].bytes <= 64))) {
		if (mal_node(&analysis->values, state->slots[at].value)->class >= MAL_IDENTITY &&
		    !analysis->final)
			mal_add_offset(analysis, &analysis->scalars, offset);
		return state->slots[at].value;
	}
	for (uint32_t i = 0; i < state->slot_count && count < 16; i++)
		if (state->slots[i].offset < offset + bytes &&
		    state->slots[i].offset + state->slots[i].bytes > offset)
			parts[count++] = state->slots[i].value;
	/* What the caller put on the stack. */
	if (count == 0 && offset >= 8)
		return mal_symbol(&analysis->values, (uint64_t)1 << 61 | (uint64_t)offset,
				  MAL_ROUNDS);
	if (count == 0)
		return mal_fresh(analysis, 1, MAL_ROUNDS);
	for (size_t i = 1; i < count; i++)
		same &= parts[i] == parts[0];
	return same && bytes > 8 && mal_node(&analysis->values, parts[0])->kind == MAL_NUMBER &&
			       count * 8 == bytes
		       ? parts[0]
		       : mal_blur(&analysis->values, parts, count, analysis->at->address * 8 + 2);
}

void mal_escape(struct mal_analysis *analysis, mal_value value)
{
	int64_t offset = mal_node(&analysis->values, value)->key;

	if (mal_node(&analysis->values, value)->kind != MAL_STACK)
		return;
	if (!mal_has_offset(&analysis->filled, offset))
		mal_add_offset(analysis, &analysis->escapes, offset);
}

/* Others may have written to what they have the address of. */
void mal_forget_escaped(struct mal_analysis *analysis)
{
	struct mal_state *state = analysis->state;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->slot_count; i++) {
		const struct mal_stack_slot *slot = &state->slots[i];
		int forget = 0;

		for (uint32_t j = 0; j < analysis->escapes.count; j++)
			/* What is near may be a part of it; what is saved there is no number. */
			forget |= slot->offset == analysis->escapes.list[j] ||
				  (slot->offset > analysis->escapes.list[j] &&
				   slot->offset < analysis->escapes.list[j] + 64 &&
				   mal_node(&analysis->values, slot->value)->kind == MAL_NUMBER);
		if (!forget || mal_node(&analysis->values, slot->value)->class >= MAL_IDENTITY)
			state->slots[kept++] = *slot;
	}
	state->slot_count = kept;
}

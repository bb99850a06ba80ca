/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* block_state.c: what registers and the stack hold at the beginning of a block. */
#include <string.h>

#include "libmalleable/inspect/analysis.h"

/* Whether a branch is by a thread's number, or selects bounds. */
static int is_side(const struct mal_analysis *analysis, uint32_t block)
{
	const struct mal_block_facts *facts = &analysis->facts[block];

	return facts->compare &&
	       ((facts->branch != MAL_BRANCH_SHARE && facts->branch != MAL_BRANCH_CHUNK) ||
		mal_node(&analysis->values, facts->compare)->class == MAL_ITERATIONS);
}

/* The ways into a block that are taken. */
static void collect(struct mal_meeting *meeting)
{
	struct mal_analysis *analysis = meeting->analysis;
	const struct mal_block *block = &analysis->graph.blocks[meeting->block];

	/* The way into a loop is first. */
	for (int back = 0; back < 2; back++)
		for (uint32_t i = 0; i < block->before_count; i++) {
			uint32_t before = block->before[i], way = 0;
			const struct mal_block_facts *facts = &analysis->facts[before];
			const struct mal_block *from = &analysis->graph.blocks[before];

			if ((from->order >= block->order) != back || !facts->end ||
			    !facts->end->live)
				continue;
			while (way + 1 < from->next_count && from->next[way] != meeting->block)
				way++;
			if (way < 8 && facts->dead >> way & 1 &&
			    !(from->next_count == 2 && from->next[0] == from->next[1]))
				continue;
			if (meeting->count == MAL_MEETING) {
				analysis->values.full = 1;
				return;
			}
			meeting->before[meeting->count] = before;
			meeting->sides[meeting->count] =
				is_side(analysis, before) && from->next_count == 2 &&
						from->next[0] != from->next[1]
					? (before + 1) * 2 + way
					: facts->end->side;
			meeting->states[meeting->count++] = facts->end;
		}
}

/* The next slot from AT on that is not before OFFSET. */
static uint32_t next_slot(const struct mal_state *state, uint32_t at, int64_t offset)
{
	while (at < state->slot_count && state->slots[at].offset < offset)
		at++;
	return at;
}

/* Whether the slot before AT has what SLOT holds: zeros, as compilers set whole arrays. */
static int covered(const struct mal_state *state, uint32_t at, const struct mal_stack_slot *slot)
{
	return at > 0 && state->slots[at - 1].offset + state->slots[at - 1].bytes > slot->offset;
}

static void meet_slots(struct mal_meeting *meeting, struct mal_state *state)
{
	struct mal_values *values = &meeting->analysis->values;

	state->slot_count = 0;
	for (uint32_t from = 0; from < meeting->count; from++) {
		/* Slots are in order: what was found is not looked for again. */
		uint32_t at = 0, places[MAL_MEETING] = {0};

		for (uint32_t i = 0; i < meeting->states[from]->slot_count; i++) {
			const struct mal_stack_slot *slot = &meeting->states[from]->slots[i];
			struct mal_stack_slot made = *slot;
			uint32_t present = 0;

			at = next_slot(state, at, slot->offset);
			if (at < state->slot_count && state->slots[at].offset == slot->offset)
				continue;
			for (uint32_t j = 0; j < meeting->count; j++) {
				const struct mal_state *other = meeting->states[j];
				uint32_t there = next_slot(other, places[j], slot->offset);

				places[j] = there;
				if (there < other->slot_count &&
				    other->slots[there].offset == slot->offset) {
					meeting->values[j] = other->slots[there].value;
					if (other->slots[there].bytes > made.bytes)
						made.bytes = other->slots[there].bytes;
					present++;
				} else if (covered(other, there, slot)) {
					meeting->values[j] = mal_number(values, 0);
					present++;
				}
			}
			/* What was not set on another way is not used there. */
			if (present < meeting->count &&
			    mal_node(values, slot->value)->class == MAL_CLEAN)
				continue;
			if (present == meeting->count)
				made.value = mal_meet(
					meeting,
					(uint64_t)1 << 36 | ((uint64_t)slot->offset & 0xfffffffff));
			if (state->slot_count == MAL_SLOTS) {
				values->full = 1;
				return;
			}
			memmove(&state->slots[at + 1], &state->slots[at],
				(state->slot_count - at) * sizeof(made));
			state->slots[at] = made;
			state->slot_count++;
		}
	}
}

void mal_enter(struct mal_analysis *analysis, uint32_t block, struct mal_state *state)
{
	struct mal_meeting meeting = {.analysis = analysis, .block = block};

	collect(&meeting);
	analysis->values.compare = 0;
	memset(state, 0, sizeof(*state));
	if (!meeting.count)
		return;
	state->live = 1;
	state->side = meeting.sides[0];
	state->guarded = state->few = state->working = 1;
	for (uint32_t i = 0; i < meeting.count; i++) {
		const struct mal_block_facts *facts = &analysis->facts[meeting.before[i]];
		const struct mal_block *from = &analysis->graph.blocks[meeting.before[i]];
		uint8_t few;

		state->side = state->side == meeting.sides[i] ? state->side : 0;
		state->guarded &= meeting.states[i]->guarded ||
				  (facts->guard && from->next[facts->guard - 1] == block);
		few = meeting.states[i]->few || (facts->few && from->next[facts->few - 1] == block);
		state->few &= few;
		/* A loop of iterations may be entered at two places. */
		meeting.few |= few || (analysis->facts[block].shared && !facts->shared);
		state->working &= meeting.states[i]->working;
		state->protected_ |= meeting.states[i]->protected_;
	}
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++) {
		for (uint32_t i = 0; i < meeting.count; i++)
			meeting.values[i] = meeting.states[i]->registers[reg];
		state->registers[reg] = mal_meet(&meeting, reg);
	}
	for (uint32_t i = 0; i < meeting.count; i++)
		meeting.values[i] = meeting.states[i]->left;
	state->left = mal_meet(&meeting, 60);
	for (uint32_t i = 0; i < meeting.count; i++)
		meeting.values[i] = meeting.states[i]->right;
	state->right = mal_meet(&meeting, 61);
	meet_slots(&meeting, state);
	if (state->side && analysis->facts[state->side / 2 - 1].branch == MAL_BRANCH_DIVISION) {
		analysis->values.compare = analysis->facts[state->side / 2 - 1].compare;
		analysis->values.truth = !(state->side & 1);
	}
	if (meeting.count == 1) {
		state->load_count = meeting.states[0]->load_count;
		memcpy(state->loads, meeting.states[0]->loads, sizeof(state->loads));
		memcpy(state->load_addresses, meeting.states[0]->load_addresses,
		       sizeof(state->load_addresses));
	}
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state.c: what registers and the stack hold, and what they hold where ways meet. */
#include <string.h>

#include "libmalleable/inspect/analysis.h"

#ifdef HAVE_ZYDIS

enum { WAYS = 64 };
static const char differs[] = "a value that differs among threads";
/* What is left in a register is rarely used. */
static const char left_over[] = "a register that a call may have changed";

/* Values of one location on the ways that meet in a block. */
struct meeting {
	struct mal_analysis *analysis;
	uint32_t block, count;
	const struct mal_state *states[WAYS];
	uint32_t sides[WAYS], before[WAYS];
	mal_value values[WAYS];
	/* On one of the ways the thread has few iterations. */
	int few;
};

static uint32_t slot_at(const struct mal_state *state, int64_t offset)
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

static int is_scalar(const struct mal_analysis *analysis, int64_t offset)
{
	for (uint32_t i = 0; i < analysis->scalar_count; i++)
		if (analysis->scalars[i] == offset)
			return 1;
	return 0;
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
	at = slot_at(state, offset);
	memmove(&state->slots[at + 1], &state->slots[at],
		(state->slot_count - at) * sizeof(*state->slots));
	state->slots[at] = (struct mal_stack_slot){offset, bytes, value};
	state->slot_count++;
	if (!analysis->final || node->class < MAL_IDENTITY)
		return;
	for (uint32_t i = 0; i < analysis->escape_count; i++)
		if (offset >= analysis->escapes[i] && offset < analysis->escapes[i] + 64 &&
		    (offset == analysis->escapes[i] || !is_scalar(analysis, offset)))
			mal_check_value(analysis, value, "in memory whose address is passed on");
}

static void note_scalar(struct mal_analysis *analysis, int64_t offset, mal_value value)
{
	if (mal_node(&analysis->values, value)->class < MAL_IDENTITY || analysis->final ||
	    is_scalar(analysis, offset) || analysis->scalar_count == MAL_ESCAPES)
		return;
	analysis->scalars[analysis->scalar_count++] = offset;
}

mal_value mal_load_slot(struct mal_analysis *analysis, int64_t offset, uint32_t bytes)
{
	struct mal_state *state = analysis->state;
	uint32_t at = slot_at(state, offset);
	mal_value parts[16];
	size_t count = 0;

	if (at < state->slot_count && state->slots[at].offset == offset &&
	    (state->slots[at].bytes == bytes ||
	     (bytes >= 4 && bytes < state->slots[at].bytes && state->slots[at].bytes <= 64))) {
		note_scalar(analysis, offset, state->slots[at].value);
		return state->slots[at].value;
	}
	for (uint32_t i = 0; i < state->slot_count && count < 16; i++)
		if (state->slots[i].offset < offset + bytes &&
		    state->slots[i].offset + state->slots[i].bytes > offset)
			parts[count++] = state->slots[i].value;
	/* What the caller put on the stack. */
	if (count == 0 && offset >= 8)
		return mal_symbol(&analysis->values, (uint64_t)1 << 61 | (uint64_t)offset, 0);
	if (count == 0)
		return mal_fresh(analysis, 1, 0);
	for (size_t i = 1; i < count; i++)
		if (parts[i] != parts[0])
			return mal_blur(&analysis->values, parts, count,
					analysis->at->address * 8 + 2);
	return bytes > 8 && mal_node(&analysis->values, parts[0])->kind == MAL_NUMBER &&
			       count * 8 == bytes
		       ? parts[0]
		       : mal_blur(&analysis->values, parts, count, analysis->at->address * 8 + 2);
}

void mal_escape(struct mal_analysis *analysis, mal_value value)
{
	int64_t offset = mal_node(&analysis->values, value)->key;

	if (mal_node(&analysis->values, value)->kind != MAL_STACK)
		return;
	for (uint32_t i = 0; i < analysis->escape_count; i++)
		if (analysis->escapes[i] == offset)
			return;
	for (uint32_t i = 0; i < analysis->filled_count; i++)
		if (analysis->filled[i] == offset)
			return;
	if (analysis->escape_count == MAL_ESCAPES)
		analysis->values.full = 1;
	else
		analysis->escapes[analysis->escape_count++] = offset;
}

/* Others may have written to what they have the address of. */
void mal_forget_escaped(struct mal_analysis *analysis)
{
	struct mal_state *state = analysis->state;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->slot_count; i++) {
		const struct mal_stack_slot *slot = &state->slots[i];
		int forget = 0;

		for (uint32_t j = 0; j < analysis->escape_count; j++)
			/* What is near may be a part of it; what is saved there is no number. */
			forget |= slot->offset == analysis->escapes[j] ||
				  (slot->offset > analysis->escapes[j] &&
				   slot->offset < analysis->escapes[j] + 64 &&
				   mal_node(&analysis->values, slot->value)->kind == MAL_NUMBER);
		if (!forget || mal_node(&analysis->values, slot->value)->class >= MAL_IDENTITY)
			state->slots[kept++] = *slot;
	}
	state->slot_count = kept;
}

static int comes_back(const struct meeting *meeting, uint32_t i)
{
	const struct mal_block *blocks = meeting->analysis->graph.blocks;

	return blocks[meeting->before[i]].order >= blocks[meeting->block].order;
}

/* A share's guard selects nothing but bounds: what loops leave behind is no expression of it. */
static int selects(const struct meeting *meeting, uint32_t branch, uint32_t i, uint32_t j)
{
	const struct mal_analysis *analysis = meeting->analysis;
	uint8_t kind = analysis->facts[branch].branch;

	const struct mal_node *a = mal_node(&analysis->values, meeting->values[i]);
	const struct mal_node *b = mal_node(&analysis->values, meeting->values[j]);

	if (kind != MAL_BRANCH_SHARE && kind != MAL_BRANCH_CHUNK)
		return 1;
	return a->flags & b->flags & MAL_EXACT && (a->class || b->class) &&
	       mal_node(&analysis->values, analysis->facts[branch].compare)->class ==
		       MAL_ITERATIONS;
}

/* Of two ways that one branch led to, what its comparison selects. */
static int select_one(struct meeting *meeting)
{
	struct mal_analysis *analysis = meeting->analysis;

	for (uint32_t i = 0; i < meeting->count; i++)
		for (uint32_t j = i + 1; j < meeting->count; j++) {
			uint32_t a = meeting->sides[i], b = meeting->sides[j];
			mal_value compare;

			if (!a || (a ^ b) != 1 || !selects(meeting, a / 2 - 1, i, j))
				continue;
			compare = analysis->facts[a / 2 - 1].compare;
			if (meeting->values[i] != meeting->values[j])
				meeting->values[i] =
					mal_make(&analysis->values, MAL_SELECT, 0, compare,
						 meeting->values[a & 1 ? j : i],
						 meeting->values[a & 1 ? i : j]);
			meeting->sides[i] = 0;
			meeting->count--;
			meeting->values[j] = meeting->values[meeting->count];
			meeting->sides[j] = meeting->sides[meeting->count];
			meeting->before[j] = meeting->before[meeting->count];
			return 1;
		}
	return 0;
}

/* Whether a loop may begin with VALUE: the first of a thread's iterations, or its last. */
static int begins_share(struct mal_values *values, mal_value value, mal_value step)
{
	const struct mal_node *node = mal_node(values, value);
	int64_t number;

	if (node->class < MAL_IDENTITY)
		return 1;
	if (mal_shape_of(values, value)->shape == MAL_SHAPE_COUNTED)
		return 1;
	if (node->shape != MAL_SHAPE_BLOCK)
		return 0;
	return !node->length ||
	       (mal_is_number(values, step, &number) && number < 0 && node->start == node->length);
}

/* A value that the loop changes by the same each time; from the next pass on it is known. */
static int note_step(struct meeting *meeting, uint64_t key, mal_value first, mal_value step,
		     mal_value *result)
{
	struct mal_analysis *analysis = meeting->analysis;

	*result = mal_make(&analysis->values, MAL_STEP, (int64_t)key, first, step, 0);
	for (uint32_t i = 0; i < analysis->seed_count; i++)
		if (analysis->seeds[i].key == key && analysis->seeds[i].first == first &&
		    analysis->seeds[i].step == step)
			return 1;
	if (analysis->seed_count == MAL_SEEDS) {
		analysis->values.full = 1;
		return 1;
	}
	analysis->seeds[analysis->seed_count++] = (struct mal_seed){key, first, step};
	analysis->restart = 1;
	return 1;
}

/* Whether A, what a loop begins with, and B, what it comes back with, are of such a value. */
static int is_stepped(struct meeting *meeting, uint64_t key, mal_value a, mal_value b,
		      mal_value *result)
{
	struct mal_values *values = &meeting->analysis->values;
	const struct mal_node *left = mal_node(values, a), *right = mal_node(values, b);
	int known = left->kind == MAL_STEP && left->key == (int64_t)key;
	mal_value first = known ? left->a : a, step;

	/* What another register steps, one step ahead. */
	if (right->kind == MAL_STEP && right->key != (int64_t)key) {
		step = mal_minus(values, right->a, first);
		return mal_node(values, first)->class == MAL_IDENTITY &&
		       mal_is_chunk_step(values, first, step) &&
		       note_step(meeting, key, first, step, result);
	}
	if (known) {
		*result = a;
		return mal_difference(values, a, b, &step) && step == left->b;
	}
	if (left->class == MAL_CLEAN || !(left->flags & MAL_EXACT) ||
	    !mal_difference(values, a, b, &step))
		return 0;
	if (mal_node(values, step)->class == MAL_CLEAN ? !begins_share(values, a, step)
						       : !mal_is_chunk_step(values, a, step))
		return 0;
	return note_step(meeting, key, a, step, result);
}

static int steps_by_number(const struct mal_values *values, const struct mal_node *next,
			   uint64_t key)
{
	return next->kind == MAL_ADD && mal_node(values, next->b)->kind == MAL_NUMBER &&
	       mal_node(values, next->a)->kind == MAL_SYMBOL &&
	       mal_node(values, next->a)->key == (int64_t)key;
}

static int counts(const struct mal_values *values, const struct mal_node *first,
		  const struct mal_node *next, mal_value counter)
{
	if (first->kind != MAL_NUMBER || first->key != 0)
		return first == mal_node(values, counter) && next->kind == MAL_ADD &&
		       next->a == counter;
	if (next->kind == MAL_NUMBER)
		return next->key == 1;
	return next->kind == MAL_ADD && next->a == counter &&
	       mal_node(values, next->b)->kind == MAL_NUMBER && mal_node(values, next->b)->key == 1;
}

static int is_place(struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value);

	return node->class == MAL_IDENTITY ? mal_shape_of(values, value)->start != 0
					   : node->class && node->key != MAL_ROUNDED;
}

/* What a loop steps is an iteration, whatever bound it begins with; so is where the rest begins. */
static mal_value share(struct meeting *meeting, uint64_t key, mal_value a, mal_value b, int back)
{
	struct mal_values *values = &meeting->analysis->values;
	int steps = (back || meeting->few) && is_place(values, a) && is_place(values, b);
	int of_bounds = mal_is_of_bounds(values, a) || mal_is_of_bounds(values, b);

	return mal_leaf(values, MAL_SHARE, of_bounds && !steps ? (int64_t)key : 0);
}

static mal_value pair(struct meeting *meeting, uint64_t key, mal_value a, mal_value b, int back,
		      uint8_t carried)
{
	struct mal_values *values = &meeting->analysis->values;
	const struct mal_node *left = mal_node(values, a), *right = mal_node(values, b);
	mal_value result;

	if (a == b)
		return a;
	if (back && is_stepped(meeting, key, a, b, &result))
		return result;
	if (left->class == MAL_UNKNOWN || right->class == MAL_UNKNOWN) {
		if (left->kind == MAL_LOST || right->kind == MAL_LOST)
			return mal_tells(values, left_over);
		return left->class == MAL_UNKNOWN ? a : b;
	}
	if (left->class == MAL_CLEAN && right->class == MAL_CLEAN) {
		if (left->kind == MAL_LOST || right->kind == MAL_LOST)
			return left->kind == MAL_LOST ? a : b;
		if (meeting->analysis->facts[meeting->block].force & MAL_FORCE_TELLS)
			return mal_tells(values, differs);
		/* Whether a thread has iterations; not what a loop begins to count. */
		if (carried && meeting->analysis->final && left->kind == MAL_NUMBER &&
		    right->kind == MAL_NUMBER)
			return mal_tells(values, "what a thread sets that has iterations");
		/* Memory that all share is read again: nothing is carried. */
		if (left->a && left->a == right->a && left->kind == MAL_SYMBOL &&
		    right->kind == MAL_SYMBOL)
			return mal_loaded(values, key, left->flags | right->flags, left->a);
		/* A count of iterations that begins anew for each thread. */
		if (carried && back && meeting->analysis->final && left->kind == MAL_NUMBER &&
		    steps_by_number(values, right, key))
			carried |= MAL_COUNTED;
		result = mal_symbol(values, key, (uint8_t)(left->flags | right->flags | carried));
		if (back)
			mal_mark_counter(values, result, counts(values, left, right, result));
		return result;
	}
	if (left->kind == MAL_LOST || right->kind == MAL_LOST) {
		const struct mal_node *other = left->kind == MAL_LOST ? right : left;

		return other->class == MAL_ITERATIONS ? share(meeting, key, a, b, back)
						      : mal_tells(values, left_over);
	}
	if (mal_is_bound(values, a) && mal_is_bound(values, b))
		return share(meeting, key, a, b, back);
	return mal_tells(values, differs);
}

/* Whether what is carried differs with the iterations that a thread has. */
static uint8_t is_carried(const struct meeting *meeting)
{
	const struct mal_analysis *analysis = meeting->analysis;
	uint8_t force = analysis->facts[meeting->block].force;

	if (force & MAL_FORCE_JOIN)
		return MAL_CARRIED;
	if (!(force & MAL_FORCE_LOOP))
		return 0;
	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct mal_node *node = mal_node(&analysis->values, meeting->values[i]);

		if (!comes_back(meeting, i) && (node->flags & MAL_ITEM || node->class))
			return 0;
	}
	return MAL_CARRIED;
}

static uint64_t *kept_at(struct mal_analysis *analysis, uint64_t key)
{
	uint64_t at = key * 0x9e3779b97f4a7c15u >> 32;

	while (analysis->kept[at % MAL_KEPT] && analysis->kept[at % MAL_KEPT] != key)
		at++;
	return &analysis->kept[at % MAL_KEPT];
}

static int is_kept(struct mal_analysis *analysis, uint64_t key)
{
	return *kept_at(analysis, key) == key;
}

/* What a loop does not change is what it began with. */
static void note_kept(const struct meeting *meeting, uint64_t key, mal_value result)
{
	struct mal_analysis *analysis = meeting->analysis;
	const struct mal_node *node = mal_node(&analysis->values, result);
	mal_value first = meeting->values[0];

	if (node->kind != MAL_SYMBOL || node->key != (int64_t)key || comes_back(meeting, 0) ||
	    analysis->kept_count >= MAL_KEPT / 2)
		return;
	for (uint32_t i = 1; i < meeting->count; i++)
		if (meeting->values[i] != first &&
		    !(comes_back(meeting, i) && meeting->values[i] == result))
			return;
	*kept_at(analysis, key) = key;
	analysis->kept_count++;
	analysis->restart = 1;
}

static mal_value meet(struct meeting *meeting, uint64_t location)
{
	struct mal_analysis *analysis = meeting->analysis;
	uint64_t key = (uint64_t)1 << 62 | (uint64_t)meeting->block << 40 | location;
	uint32_t count = meeting->count, sides[WAYS], before[WAYS];
	mal_value result = meeting->values[0];
	uint8_t carried;
	int same = 1, kept = is_kept(analysis, key);

	for (uint32_t i = 1; i < count; i++)
		same &= meeting->values[i] == result || (kept && comes_back(meeting, i));
	for (uint32_t i = 0; i < analysis->seed_count && !analysis->without; i++)
		if (analysis->seeds[i].key == key &&
		    meeting->values[0] == analysis->seeds[i].first) {
			result = meeting->values[0] =
				mal_make(&analysis->values, MAL_STEP, (int64_t)key, result,
					 analysis->seeds[i].step, 0);
			if (count == 1)
				return result;
			same = 0;
		}
	if (same)
		return result;
	memcpy(sides, meeting->sides, count * sizeof(*sides));
	memcpy(before, meeting->before, count * sizeof(*before));
	carried = is_carried(meeting);
	while (select_one(meeting))
		;
	/* First the ways into a loop, then those back. */
	result = 0;
	for (int back = 0, found = 0; back < 2; back++)
		for (uint32_t i = 0; i < meeting->count; i++) {
			if (comes_back(meeting, i) != back || (back && kept))
				continue;
			result = found ? pair(meeting, key, result, meeting->values[i], back,
					      carried)
				       : meeting->values[i];
			found = 1;
		}
	if (analysis->keeping && !kept)
		note_kept(meeting, key, result);
	meeting->count = count;
	memcpy(meeting->sides, sides, count * sizeof(*sides));
	memcpy(meeting->before, before, count * sizeof(*before));
	return result;
}

/* Whether a branch is by a thread's number, or selects bounds. */
static int is_side(const struct mal_analysis *analysis, uint32_t block)
{
	const struct mal_block_facts *facts = &analysis->facts[block];

	return facts->compare &&
	       ((facts->branch != MAL_BRANCH_SHARE && facts->branch != MAL_BRANCH_CHUNK) ||
		mal_node(&analysis->values, facts->compare)->class == MAL_ITERATIONS);
}

/* The ways into a block that are taken. */
static void collect(struct meeting *meeting)
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
			if (meeting->count == WAYS) {
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

/* Whether a slot that begins before has what SLOT holds: zeros, as compilers set whole arrays. */
static int covered(const struct mal_state *state, const struct mal_stack_slot *slot)
{
	uint32_t at = slot_at(state, slot->offset);

	return at > 0 && state->slots[at - 1].offset + state->slots[at - 1].bytes > slot->offset;
}

static void meet_slots(struct meeting *meeting, struct mal_state *state)
{
	struct mal_values *values = &meeting->analysis->values;

	state->slot_count = 0;
	for (uint32_t from = 0; from < meeting->count; from++)
		for (uint32_t i = 0; i < meeting->states[from]->slot_count; i++) {
			const struct mal_stack_slot *slot = &meeting->states[from]->slots[i];
			struct mal_stack_slot made = *slot;
			uint32_t present = 0, at = slot_at(state, slot->offset);

			if (at < state->slot_count && state->slots[at].offset == slot->offset)
				continue;
			for (uint32_t j = 0; j < meeting->count; j++) {
				const struct mal_state *other = meeting->states[j];
				uint32_t there = slot_at(other, slot->offset);

				if (there < other->slot_count &&
				    other->slots[there].offset == slot->offset) {
					meeting->values[j] = other->slots[there].value;
					if (other->slots[there].bytes > made.bytes)
						made.bytes = other->slots[there].bytes;
					present++;
				} else if (covered(other, slot)) {
					meeting->values[j] = mal_number(values, 0);
					present++;
				}
			}
			/* What was not set on another way is not used there. */
			if (present < meeting->count &&
			    mal_node(values, slot->value)->class == MAL_CLEAN)
				continue;
			if (present == meeting->count)
				made.value = meet(meeting,
						  (uint64_t)1 << 36 |
							  ((uint64_t)slot->offset & 0xfffffffff));
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

void mal_enter(struct mal_analysis *analysis, uint32_t block, struct mal_state *state)
{
	struct meeting meeting = {.analysis = analysis, .block = block};

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
		meeting.few |= few;
		state->working &= meeting.states[i]->working;
		state->protected_ |= meeting.states[i]->protected_;
	}
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++) {
		for (uint32_t i = 0; i < meeting.count; i++)
			meeting.values[i] = meeting.states[i]->registers[reg];
		state->registers[reg] = meet(&meeting, reg);
	}
	for (uint32_t i = 0; i < meeting.count; i++)
		meeting.values[i] = meeting.states[i]->left;
	state->left = meet(&meeting, 60);
	for (uint32_t i = 0; i < meeting.count; i++)
		meeting.values[i] = meeting.states[i]->right;
	state->right = meet(&meeting, 61);
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

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* meet.c: what registers and the stack hold at the beginning of a block, where ways meet. */
#include <string.h>

#include "libmalleable/prover/code/analysis.h"

enum { MEETING = 64 };

/* Values of one location on the ways that meet in a block. */
struct meeting {
	struct mal_analysis *analysis;
	uint32_t block, count;
	const struct mal_state *states[MEETING];
	uint32_t sides[MEETING], before[MEETING];
	mal_value values[MEETING];
	/* On one of the ways the thread has few iterations. */
	int few;
};

static const char differs[] = "a value that differs among threads";
/* What is left in a register is rarely used. */
static const char left_over[] = "a register that a call may have changed";

static bool comes_back(const struct meeting *meeting, uint32_t i)
{
	const struct mal_block *blocks = meeting->analysis->graph.blocks;

	return blocks[meeting->before[i]].order >= blocks[meeting->block].order;
}

/* A share's guard selects nothing but bounds: what loops leave behind is no expression of it. */
static bool selects(const struct meeting *meeting, uint32_t branch, uint32_t i, uint32_t j)
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
static bool select_one(struct meeting *meeting)
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
static bool begins_share(struct mal_values *values, mal_value value, mal_value step)
{
	const struct mal_node *node = mal_node(values, value);
	int64_t number;

	if (node->class < MAL_IDENTITY)
		return 1;
	node = mal_shape_of(values, value);
	if (node->shape != MAL_SHAPE_BLOCK)
		return 0;
	return !node->length ||
	       (mal_is_number(values, step, &number) && number < 0 && node->start == node->length);
}

/* A value that the loop changes by the same each time; from the next pass on it is known. */
static void note_step(struct meeting *meeting, uint64_t key, mal_value first, mal_value step,
		      mal_value *result)
{
	struct mal_analysis *analysis = meeting->analysis;

	*result = mal_make(&analysis->values, MAL_STEP, (int64_t)key, first, step, 0);
	for (uint32_t i = 0; i < analysis->seed_count; i++)
		if (analysis->seeds[i].key == key && analysis->seeds[i].first == first &&
		    analysis->seeds[i].step == step)
			return;
	if (analysis->seed_count == MAL_SEEDS) {
		analysis->values.full = 1;
		return;
	}
	analysis->seeds[analysis->seed_count++] = (struct mal_seed){key, first, step};
	analysis->restart = 1;
}

/* Whether all that a loop steps goes through its iterations at one pace, in one direction. */
static bool keeps_pace(struct meeting *meeting, uint64_t key, mal_value first, mal_value step)
{
	struct mal_analysis *analysis = meeting->analysis;
	const struct mal_node *node, *other;
	int64_t by, others;
	double mine, its;

	if (mal_node(&analysis->values, first)->class != MAL_IDENTITY ||
	    !mal_is_number(&analysis->values, step, &by))
		return 1;
	node = mal_shape_of(&analysis->values, first);
	for (uint32_t i = 0; i < analysis->seed_count; i++) {
		if ((analysis->seeds[i].key ^ key) >> 40 ||
		    mal_node(&analysis->values, analysis->seeds[i].first)->class != MAL_IDENTITY ||
		    !mal_is_number(&analysis->values, analysis->seeds[i].step, &others))
			continue;
		other = mal_shape_of(&analysis->values, analysis->seeds[i].first);
		if (node->shape != MAL_SHAPE_BLOCK || other->shape != MAL_SHAPE_BLOCK)
			continue;
		/* What is left in a register may seem to go faster. */
		mine = (double)by / (double)node->start;
		its = (double)others / (double)other->start;
		if (mine * mine > its * its || (mine < 0 && its > 0 && mine + its >= 0))
			return 0;
	}
	return 1;
}

/* Whether A, what a loop begins with, and B, what it comes back with, are of such a value. */
static bool is_stepped(struct meeting *meeting, uint64_t key, mal_value a, mal_value b,
		       mal_value *result)
{
	struct mal_values *values = &meeting->analysis->values;
	const struct mal_node *left = mal_node(values, a);
	int known = left->kind == MAL_STEP && left->key == (int64_t)key;
	mal_value first = known ? left->a : a, step;

	if (known) {
		*result = keeps_pace(meeting, key, first, left->b) ? a : mal_tells(values, differs);
		return mal_difference(values, a, b, &step) && step == left->b;
	}
	if (left->class == MAL_CLEAN || !(left->flags & MAL_EXACT) ||
	    !mal_difference(values, a, b, &step))
		return 0;
	if (mal_node(values, step)->class != MAL_CLEAN) {
		if (!mal_is_chunk_step(values, a, step))
			return 0;
	} else if (!begins_share(values, a, step)) {
		*result = mal_tells(values, differs);
		return step != mal_number(values, 0);
	}
	note_step(meeting, key, a, step, result);
	return 1;
}

static bool steps_by_number(const struct mal_values *values, const struct mal_node *next,
			    uint64_t key)
{
	return next->kind == MAL_ADD && mal_node(values, next->b)->kind == MAL_NUMBER &&
	       mal_node(values, next->a)->kind == MAL_SYMBOL &&
	       mal_node(values, next->a)->key == (int64_t)key;
}

/* Whether the loop steps another value from the first iteration on: none begins later then. */
static bool is_stepping(const struct meeting *meeting, uint64_t key)
{
	const struct mal_analysis *analysis = meeting->analysis;

	for (uint32_t i = 0; i < analysis->seed_count && !analysis->without; i++)
		if (analysis->seeds[i].key != key && !((analysis->seeds[i].key ^ key) >> 40) &&
		    mal_node(&analysis->values, analysis->seeds[i].first)->class == MAL_IDENTITY)
			return 1;
	return 0;
}

/* What a loop steps is an iteration, whatever bound it begins with; so is where the rest begins. */
static mal_value share(struct meeting *meeting, uint64_t key, mal_value a, mal_value b, int back)
{
	static const uint32_t kept = MAL_ROUNDS | MAL_CHOICE | MAL_FOLDED | MAL_LEFT | MAL_HISTORY;
	struct mal_values *values = &meeting->analysis->values;
	int places = mal_is_place(values, a) && mal_is_place(values, b);
	int steps = places && (back || meeting->few) && !is_stepping(meeting, key);
	int of_bounds = mal_is_of_bounds(values, a) || mal_is_of_bounds(values, b);

	if ((mal_node(values, a)->flags | mal_node(values, b)->flags) & MAL_INDEX)
		return mal_blur(values, (mal_value[]){a, b}, 2, key);
	if ((mal_is_rounded(values, a) && mal_node(values, b)->class == MAL_CLEAN) ||
	    (mal_is_rounded(values, b) && mal_node(values, a)->class == MAL_CLEAN))
		return mal_leaf(values, MAL_SHARE, MAL_ROUNDED);
	return mal_share(values, of_bounds && !steps ? (int64_t)key : 0,
			 (of_bounds && !steps && places ? MAL_PLACE : 0) |
				 (mal_flags_of_either(values, a, b) & kept));
}

/* What carries on from turn to turn of a loop of iterations that begins here, by its NEXT. */
static uint32_t flags_of_turn(const struct meeting *meeting, const struct mal_node *next)
{
	int64_t here = 1 << 22 | (int64_t)meeting->block;

	if (!(meeting->analysis->facts[meeting->block].force & MAL_FORCE_LOOP))
		return 0;
	/* What was read before is no more than passed on. */
	return MAL_TURN | (meeting->analysis->final && next->flags & MAL_TURN &&
					   (next->kind != MAL_SYMBOL || next->key >> 40 != here)
				   ? MAL_RECURS
				   : 0);
}

static mal_value pair(struct meeting *meeting, uint64_t key, mal_value a, mal_value b, int back,
		      uint8_t carried)
{
	struct mal_values *values = &meeting->analysis->values;
	const struct mal_node *left = mal_node(values, a), *right = mal_node(values, b);
	mal_value result;
	uint32_t flags;

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
			return mal_loaded(values, key, mal_flags_of_either(values, a, b), left->a);
		/* A count of iterations that begins anew for each thread. */
		if (carried && back && meeting->analysis->final &&
		    steps_by_number(values, right, key))
			carried |= MAL_COUNTED;
		flags = mal_flags_of_either(values, a, b) | carried;
		if (carried && back && meeting->analysis->final &&
		    right->flags & (MAL_CARRIED | MAL_ITEM | MAL_VARIES))
			flags |= MAL_RECURS;
		if (back)
			flags |= flags_of_turn(meeting, right);
		/* What a loop replaces is carried, wherever it was read first. */
		result = mal_symbol(values, key, flags & (uint32_t)(back ? ~MAL_PLACE : ~0));
		if (back && steps_by_number(values, right, key) &&
		    meeting->analysis->facts[meeting->block].header)
			values->nodes[result].step = mal_node(values, right->b)->key;
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

static uint64_t *noted_at(struct mal_analysis *analysis, uint64_t key)
{
	uint64_t at = key * 0x9e3779b97f4a7c15u >> 32;

	while (analysis->noted[at % MAL_NOTED] && analysis->noted[at % MAL_NOTED] != key)
		at++;
	return &analysis->noted[at % MAL_NOTED];
}

static bool is_noted(struct mal_analysis *analysis, uint64_t key)
{
	return *noted_at(analysis, key) == key;
}

static void note(struct mal_analysis *analysis, uint64_t key)
{
	if (is_noted(analysis, key))
		return;
	if (analysis->noted_count++ >= MAL_NOTED / 2) {
		analysis->values.full = 1;
		return;
	}
	*noted_at(analysis, key) = key;
	analysis->restart = 1;
}

/* What a loop does not change is what it began with. */
static void note_invariant(const struct meeting *meeting, uint64_t key, mal_value result)
{
	struct mal_analysis *analysis = meeting->analysis;
	const struct mal_node *node = mal_node(&analysis->values, result);
	mal_value first = meeting->values[0];

	if (node->kind != MAL_SYMBOL || node->key != (int64_t)key || comes_back(meeting, 0))
		return;
	for (uint32_t i = 1; i < meeting->count; i++)
		if (meeting->values[i] != first &&
		    !(comes_back(meeting, i) && meeting->values[i] == result))
			return;
	note(analysis, key);
}

/* Whether VALUE, what a way back brings, is not RESULT, what the turn began with, or a step on. */
static bool is_replaced(const struct mal_values *values, mal_value value, mal_value result)
{
	const struct mal_node *node = mal_node(values, value), *begun = mal_node(values, result);

	return begun->class || ((node->kind != MAL_SYMBOL || node->key != begun->key) &&
				!steps_by_number(values, node, (uint64_t)begun->key));
}

/* Whether no code uses VALUE: what a call left in a register, or the function was not given. */
static bool is_unset(const struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value);

	return node->kind == MAL_LOST ||
	       (node->kind == MAL_SYMBOL && node->key > 0 && node->key <= MAL_REGISTERS &&
		!(node->flags & MAL_ALL_GIVEN) &&
		(node->key <= MAL_XMM0 || node->key > MAL_XMM0 + 8));
}

/* Whether a way comes from the loop of iterations; one may be entered at two places. */
static bool is_within(const struct meeting *meeting, uint32_t i)
{
	return comes_back(meeting, i) || meeting->analysis->facts[meeting->before[i]].shared;
}

/* Whether it was read where an iteration led, and is as it was read. */
static bool is_read(const struct mal_node *node)
{
	return node->flags & MAL_ITEM && !(node->key >> 60) && (node->key & 7) == 1;
}

/*
 * A thread replaces in its iterations what it had before them; or it had something else before
 * some of them, and a branch on that chose. Not what is an iteration, or memory that all share.
 */
static void note_history(const struct meeting *meeting, uint64_t key, mal_value result)
{
	struct mal_analysis *analysis = meeting->analysis;
	const struct mal_values *values = &analysis->values;
	uint8_t force = analysis->facts[meeting->block].force;
	int loops = force & MAL_FORCE_LOOP, history = 0;

	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct mal_node *node = mal_node(values, meeting->values[i]);

		if (is_unset(values, meeting->values[i]))
			return;
		loops = loops && (is_within(meeting, i) || (!node->class && !is_read(node)));
	}
	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct mal_node *node = mal_node(values, meeting->values[i]);

		history |= loops && is_within(meeting, i) &&
			   is_replaced(values, meeting->values[i], result);
		if (!(force & (MAL_FORCE_JOIN | MAL_FORCE_HISTORY)))
			continue;
		for (uint32_t j = 0; j < i; j++)
			history |= comes_back(meeting, j) == comes_back(meeting, i) &&
				   meeting->values[j] != meeting->values[i] &&
				   !(node->class && mal_node(values, meeting->values[j])->class);
	}
	if (history && !mal_node(values, result)->a &&
	    mal_node(values, result)->class < MAL_UNKNOWN)
		note(analysis, ~key);
}

static mal_value with_history(struct mal_values *values, mal_value value)
{
	struct mal_node node = *mal_node(values, value);

	node.flags |= MAL_HISTORY;
	return node.class == MAL_UNKNOWN ? value : mal_intern(values, &node);
}

/* Whether it has VALUE on all ways; INVARIANT: on those that do not come back. */
static bool all_are(const struct meeting *meeting, mal_value value, int invariant)
{
	for (uint32_t i = 1; i < meeting->count; i++)
		if (meeting->values[i] != value && !(invariant && comes_back(meeting, i)))
			return 0;
	return 1;
}

/* What LOCATION holds, by its values on each of the ways. */
static mal_value meet(struct meeting *meeting, uint64_t location)
{
	struct mal_analysis *analysis = meeting->analysis;
	uint64_t key = (uint64_t)1 << 62 | (uint64_t)meeting->block << 40 | location;
	uint32_t count = meeting->count, sides[MEETING], before[MEETING];
	mal_value result = meeting->values[0];
	uint8_t carried;
	int same = all_are(meeting, result, 0), invariant = 0;

	if (!same) {
		invariant = is_noted(analysis, key);
		same = invariant && all_are(meeting, result, invariant);
	}
	for (uint32_t i = 0; i < analysis->seed_count && !analysis->without; i++)
		if (analysis->seeds[i].key == key &&
		    meeting->values[0] == analysis->seeds[i].first) {
			result = meeting->values[0] =
				mal_make(&analysis->values, MAL_STEP, (int64_t)key, result,
					 analysis->seeds[i].step, 0);
			if (count == 1)
				return result;
			invariant = is_noted(analysis, key);
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
			if (comes_back(meeting, i) != back || (back && invariant))
				continue;
			result = found ? pair(meeting, key, result, meeting->values[i], back,
					      carried)
				       : meeting->values[i];
			found = 1;
		}
	if (analysis->finds_invariants && !invariant)
		note_invariant(meeting, key, result);
	if (analysis->finds_histories)
		note_history(meeting, key, result);
	if (!analysis->without && is_noted(analysis, ~key))
		result = with_history(&analysis->values, result);
	meeting->count = count;
	memcpy(meeting->sides, sides, count * sizeof(*sides));
	memcpy(meeting->before, before, count * sizeof(*before));
	return result;
}

/* Whether a branch is by a thread's number, or selects bounds. */
static bool is_side(const struct mal_analysis *analysis, uint32_t block)
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
			if (meeting->count == MEETING) {
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

static void meet_slots(struct meeting *meeting, struct mal_state *state)
{
	struct mal_values *values = &meeting->analysis->values;

	state->slot_count = 0;
	for (uint32_t from = 0; from < meeting->count; from++) {
		for (uint32_t i = 0; i < meeting->states[from]->slot_count; i++) {
			const struct mal_stack_slot *slot = &meeting->states[from]->slots[i];
			struct mal_stack_slot made = *slot;
			uint32_t present = 0, at = mal_slot_at(state, slot->offset);

			if (at < state->slot_count && state->slots[at].offset == slot->offset)
				continue;
			for (uint32_t j = 0; j < meeting->count; j++) {
				const struct mal_state *other = meeting->states[j];
				uint32_t there = mal_slot_at(other, slot->offset);

				if (there < other->slot_count &&
				    other->slots[there].offset == slot->offset) {
					meeting->values[j] = other->slots[there].value;
					if (other->slots[there].bytes > made.bytes)
						made.bytes = other->slots[there].bytes;
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
}

/* Whether one thread alone comes from one block to the other. */
static bool chooses(const struct mal_block_facts *facts, const struct mal_block *from,
		    uint32_t block)
{
	return from->next_count == 2 && from->next[0] != from->next[1] &&
	       (facts->branch == MAL_BRANCH_CHOSEN
			? from->next[0] == block
			: facts->branch == MAL_BRANCH_NOT_CHOSEN && from->next[1] == block);
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
	state->guarded = state->few = state->working = state->held = state->chosen = 1;
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
		state->held &= meeting.states[i]->held;
		state->chosen &= meeting.states[i]->chosen || chooses(facts, from, block);
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

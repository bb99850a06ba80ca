/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unrolled.c: takes unrolled loops back to one turn. Compilers do some turns one by one, by what is
 * left of a division, then always as many at once. Where each of these does just what one turn
 * does, as often as one turn alone would be repeated, that one is repeated instead.
 *
 * Invariant: the function does the same with one turn as with all of them; else it is left as it
 * is, as in t/inspect/programs/unrolled.c (t/t0011-inspect.t: unrolled loops are one turn again
 * where all turns are alike).
 */
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "libmalleable/prover/code/actions.h"
#include "libmalleable/prover/code/analysis.h"
#include "libmalleable/prover/code/turn.h"

enum { MOST = 16, EARLIER = 4, NOWHERE = UINT32_MAX };

struct unrolled {
	struct mal_program *program;
	struct mal_flow_graph *graph;
	struct mal_values values;
	/* What is in use. */
	struct mal_live live;
	/* The block of many turns, how many; that of one; where both lead to in the end. */
	uint32_t many, count, one, end;
	/* What divides the turns, and the blocks before it. */
	uint32_t path[EARLIER + 1], divides;
	/* The one of these that leaves as a turn does, or 0. */
	uint32_t first;
	/* Blocks of one turn by how many are done until ONE ends; those below SAME do the same. */
	uint32_t copies[MOST], same;
	/* What one turn does. */
	struct mal_turn turn;
	/* On what it leaves. */
	uint8_t condition;
};

/* The other way of BLOCK than TO, of two; or NOWHERE. */
static uint32_t other_way(const struct unrolled *loop, uint32_t block, uint32_t to)
{
	const struct mal_block *at = &loop->graph->blocks[block];

	if (at->next_count != 2 || at->next[0] == at->next[1] ||
	    mal_flow_last(loop->graph, block)->flow != MAL_FLOW_BRANCH ||
	    (at->next[0] != to && at->next[1] != to))
		return NOWHERE;
	return at->next[at->next[0] == to];
}

/* They stand in pairs. */
static uint8_t opposite(uint8_t condition)
{
	return (uint8_t)(((condition - MAL_EQUAL) ^ 1) + MAL_EQUAL);
}

/* The condition on which BLOCK leads elsewhere than to TO, of two ways. */
static uint8_t condition_of(const struct unrolled *loop, uint32_t block, uint32_t to)
{
	uint8_t condition = mal_flow_last(loop->graph, block)->condition;

	if (condition == MAL_NO_CONDITION || condition >= MAL_OTHER_CONDITION)
		return MAL_OTHER_CONDITION;
	return loop->graph->blocks[block].next[0] == to ? opposite(condition) : condition;
}

/* Whether AT does something that others may see. */
static bool has_effect(const struct mal_instruction *at)
{
	bool stores = 0;

	for (unsigned int i = 0; i < at->operand_count; i++)
		stores |= at->operands[i].kind == MAL_OPERAND_MEMORY && at->operands[i].written;
	return stores || at->flow == MAL_FLOW_CALL;
}

/* BLOCK with the first KEPT of its effects; how many there were. */
static uint32_t run_block(const struct unrolled *loop, struct mal_turn *turn, uint32_t block,
			  uint32_t kept)
{
	const struct mal_block *at = &loop->graph->blocks[block];
	uint32_t effects = 0;

	for (uint32_t i = 0; i < at->count; i++) {
		const struct mal_instruction *one = &loop->graph->instructions[at->first + i];

		if (!has_effect(one) || effects < kept)
			mal_turn_step(turn, one);
		effects += has_effect(one) && effects < kept;
	}
	return effects;
}

static void run(const struct unrolled *loop, struct mal_turn *turn, uint32_t block)
{
	run_block(loop, turn, block, UINT32_MAX);
}

static bool is_same(const struct mal_turn *a, const struct mal_turn *b, uint64_t live)
{
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if (live & MAL_BIT(reg) && a->registers[reg] != b->registers[reg])
			return 0;
	return !a->failed && !b->failed && a->memory == b->memory;
}

static bool leads_to_itself(const struct mal_flow_graph *graph, uint32_t block)
{
	const struct mal_block *at = &graph->blocks[block];

	return at->next_count == 2 && (at->next[0] == block || at->next[1] == block);
}

/* Whether BLOCK may be many turns at once; what else belongs to it. */
static bool find_parts(struct unrolled *loop, uint32_t block)
{
	const struct mal_block *blocks = loop->graph->blocks, *at = &blocks[block];

	loop->many = block;
	loop->end = other_way(loop, block, block);
	loop->one = loop->divides = NOWHERE;
	if (loop->end == NOWHERE || at->before_count != 3)
		return 0;
	for (uint32_t i = 0; i < 3; i++)
		if (at->before[i] != block)
			*(other_way(loop, at->before[i], block) == loop->end ? &loop->one
									     : &loop->divides) =
				at->before[i];
	if (loop->one == NOWHERE || loop->divides == NOWHERE ||
	    other_way(loop, loop->divides, block) == NOWHERE)
		return 0;
	loop->condition = condition_of(loop, block, block);
	return loop->condition == condition_of(loop, loop->one, block);
}

/* The block that does a turn before BLOCK and leads to nothing else, or NOWHERE. */
static uint32_t copy_before(const struct unrolled *loop, uint32_t block)
{
	const struct mal_block *blocks = loop->graph->blocks;
	uint32_t before = NOWHERE;

	for (uint32_t i = 0; i < blocks[block].before_count; i++)
		if (blocks[blocks[block].before[i]].next_count == 1)
			before = blocks[block].before[i];
	return before == loop->divides ? NOWHERE : before;
}

/* The blocks of one turn from BEGIN on, from the last one to the first one that does another. */
static void find_copies(struct unrolled *loop, const struct mal_turn *begin, uint64_t live)
{
	memset(loop->copies, 0xff, sizeof(loop->copies));
	loop->copies[1] = loop->one;
	loop->same = 2;
	for (uint32_t i = 2; i < MOST; i++) {
		uint32_t block = copy_before(loop, loop->copies[i - 1]);
		struct mal_turn turn = *begin;

		if (block == NOWHERE)
			return;
		run(loop, &turn, block);
		loop->copies[i] = block;
		loop->same = i;
		/* The first one may know more of what was before. */
		if (!is_same(&loop->turn, &turn, live))
			return;
		loop->same = i + 1;
	}
}

/* Whether the block of many turns does as many as a power of two, from BEGIN on. */
static bool count_turns(struct unrolled *loop, const struct mal_turn *begin, uint64_t live)
{
	struct mal_turn many = *begin, turn = *begin;

	run(loop, &many, loop->many);
	for (loop->count = 0; loop->count < MOST; loop->count++) {
		if (loop->count > 1 && is_same(&turn, &many, live))
			return (loop->count & (loop->count - 1)) == 0;
		run(loop, &turn, loop->one);
	}
	return 0;
}

/* Whether the blocks do what one turn does, each once, or many times. */
static bool are_turns(struct unrolled *loop)
{
	const uint64_t *blocks = loop->live.blocks;
	uint64_t live = blocks[loop->one] | blocks[loop->many];
	struct mal_turn begin;

	if ((live | blocks[loop->end]) & MAL_BIT(MAL_FLAGS))
		return 0;
	mal_turn_begin(&begin, loop->program, &loop->values);
	loop->turn = begin;
	run(loop, &loop->turn, loop->one);
	find_copies(loop, &begin, live);
	return count_turns(loop, &begin, live | blocks[loop->end] | MAL_BIT(MAL_FLAGS));
}

/*
 * What is compared to leave as it is where TURN is, as if a turn had just ended there, and how
 * much less it becomes with each turn, whatever was before it.
 */
static bool compared(const struct unrolled *loop, struct mal_turn *turn, struct mal_sum *left,
		     int64_t *step)
{
	struct mal_turn once = loop->turn, twice = once, next = *turn;
	mal_value first = mal_turn_compared(&once, loop->condition), second, value;

	run(loop, &twice, loop->one);
	run(loop, &next, loop->one);
	second = mal_turn_compared(&twice, loop->condition);
	value = mal_turn_compared(&next, loop->condition);
	*left = (struct mal_sum){0};
	if (!first || !second || !value || twice.failed || next.failed ||
	    !mal_is_number(turn->values, mal_turn_plus(turn, first, second, -1), step))
		return 0;
	mal_sum_add(turn->values, left, value, 1);
	left->number += *step;
	return *step && !left->failed;
}

/* Whether all of SUM is a multiple of COUNT, a power of two. */
static bool is_multiple(const struct mal_sum *sum, uint32_t count)
{
	for (uint32_t i = 0; i < sum->count; i++)
		if (sum->factors[i] & (count - 1))
			return 0;
	return !sum->failed && !(sum->number & (count - 1));
}

/*
 * Whether TURNS, shifted right by SHIFT, is but for multiples of the count how often LEFT has to
 * become less by STEP until the loop ends: until it is zero, or with ROUNDS it is no more above.
 */
static bool divides(const struct unrolled *loop, struct mal_turn *turn, mal_value turns,
		    int64_t shift, const struct mal_sum *left, int64_t step, bool rounds)
{
	struct mal_values *values = turn->values;
	struct mal_sum sum = {.factors = {1}}, rest = {0};
	bool all = !shift;
	int64_t behind;

	/* The lowest bits decide. */
	mal_sum_add(values, &rest, mal_turn_low(turn, mal_sum_value(values, left)), 1);
	turns = mal_turn_low(turn, turns);
	if (all) {
		mal_sum_add(values, &sum, turns, step & 1 ? step : 1);
		turns = sum.count == 1 ? mal_turn_shifted(values, sum.terms[0], &shift) : 0;
	}
	if (all && step & 1 && (step == 1 || !rounds)) {
		mal_sum_add(values, &sum, mal_sum_value(values, &rest), -1);
		return is_multiple(&sum, loop->count);
	}
	if (!turns || shift < 0 || shift > 24)
		return 0;
	mal_sum_add(values, &rest, mal_turn_low(turn, turns), -1);
	if (rest.count || rest.failed || (step >> shift) << shift != step ||
	    (sum.factors[0] * (step >> shift) - 1) & (loop->count - 1))
		return 0;
	behind = rounds ? rest.number - 1 + step : rest.number;
	return behind % step == 0 && (!rounds || step >> shift == 1) &&
	       !((behind / step - sum.number) & (loop->count - 1));
}

/* Whether BLOCK, where TURN is before it, does what one turn does. */
static bool is_turn(const struct unrolled *loop, const struct mal_turn *turn, uint32_t block)
{
	struct mal_turn copies[2] = {*turn, *turn};

	run(loop, &copies[0], block);
	run(loop, &copies[1], loop->one);
	return is_same(&copies[0], &copies[1],
		       loop->live.blocks[loop->one] | loop->live.blocks[loop->many]);
}

/* How many turns are LEFT, times 2^SHIFT, where TURN compares that with a number; or 0. */
static int64_t turns_left(struct mal_turn *turn, mal_value left, int64_t shift)
{
	mal_value value = mal_turn_compared(turn, MAL_EQUAL);
	int64_t number;

	if (!value ||
	    (!mal_is_number(turn->values, mal_turn_plus(turn, left, value, -1), &number) &&
	     !mal_is_number(turn->values, mal_turn_plus(turn, mal_turn_half(turn, left), value, -1),
			    &number)))
		return 0;
	return (number >> shift) << shift == number ? number >> shift : 0;
}

/* Whether the turns that are done one by one are as many as are LEFT of the division. */
static bool leads_to_copies(const struct unrolled *loop, struct mal_turn *turn, mal_value left,
			    int64_t shift)
{
	uint64_t live = loop->live.blocks[loop->one] | loop->live.blocks[loop->many];
	struct mal_turn begin = *turn;
	uint32_t block = other_way(loop, loop->divides, loop->many), seen = 1;

	for (uint32_t i = 0; i < MOST && block != loop->copies[loop->count - 1]; i++) {
		const struct mal_block *at = &loop->graph->blocks[block];
		uint8_t equal = mal_flow_last(loop->graph, block)->condition;
		int64_t number;

		if (at->next_count != 2 || at->before_count != 1 ||
		    (equal != MAL_EQUAL && equal != MAL_NOT_EQUAL))
			return 0;
		run(loop, turn, block);
		number = turns_left(turn, left, shift);
		if (!is_same(&begin, turn, live) || number < 1 || number >= loop->count ||
		    at->next[equal == MAL_NOT_EQUAL] != loop->copies[number])
			return 0;
		seen |= 1U << number;
		if (number >= loop->same)
			return 0;
		block = at->next[equal == MAL_EQUAL];
	}
	return block == loop->copies[loop->count - 1] &&
	       (loop->same == loop->count || is_turn(loop, turn, block)) &&
	       (seen | 1U << (loop->count - 1)) == (1U << loop->count) - 1;
}

/* Whether no way from elsewhere leads to a block of the turns. */
static bool is_closed(const struct unrolled *loop)
{
	const struct mal_block *blocks = loop->graph->blocks;

	for (uint32_t i = 1; i < loop->count; i++) {
		uint32_t leads = 0;

		if (loop->copies[i] == NOWHERE)
			return 0;
		/* The one that does a turn more, and the one that decides. */
		for (uint32_t j = 0; j < blocks[loop->copies[i]].before_count; j++) {
			uint32_t before = blocks[loop->copies[i]].before[j];

			leads += i + 1 == loop->count || before != loop->copies[i + 1];
		}
		if (leads != 1)
			return 0;
	}
	return 1;
}

/* LEFT and STEP, so that a loop ends where LEFT is no more above zero, or is zero. */
static bool direct(uint8_t condition, struct mal_sum *left, int64_t *step)
{
	bool less = condition == MAL_LESS_EQUAL || condition == MAL_BELOW_EQUAL;
	bool before = condition == MAL_LESS || condition == MAL_BELOW;
	bool more = condition == MAL_NOT_LESS || condition == MAL_NOT_BELOW;
	bool behind = condition == MAL_MORE || condition == MAL_ABOVE;

	if (condition != MAL_EQUAL && !(*step > 0 ? less || before : more || behind))
		return 0;
	if (*step < 0) {
		*step = -*step;
		left->number = -left->number;
		for (uint32_t i = 0; i < left->count; i++)
			left->factors[i] = -left->factors[i];
	}
	left->number += before || behind;
	return *step > 0;
}

/* What is compared where TURN is to leave on CONDITION as the loop does; 0: that is another one. */
static mal_value leaves(const struct unrolled *loop, struct mal_turn *turn, uint8_t condition)
{
	mal_value value = mal_turn_compared(turn, condition);

	if (value && condition != loop->condition)
		value = condition == mal_swapped((enum mal_condition)loop->condition)
				? mal_turn_plus(turn, mal_number(turn->values, 0), value, -1)
				: 0;
	return value;
}

/* Where turns are divided: what blocks before it compare to leave, and what is divided. */
struct division {
	struct mal_turn turn;
	mal_value seen[EARLIER + 1];
	/* What is compared: the last bits of TURNS, which are that many places higher. */
	mal_value number, turns;
	int64_t shift;
};

/* Goes from the block of the path that is EARLIER on to the end of the one that divides. */
static void run_to_division(const struct unrolled *loop, uint32_t earlier, struct division *at)
{
	mal_turn_begin(&at->turn, loop->program, loop->turn.values);
	for (uint32_t i = earlier + 1; i-- > 0;) {
		uint32_t block = loop->path[i], next = i ? loop->path[i - 1] : NOWHERE;

		run(loop, &at->turn, block);
		if (i && other_way(loop, block, next) != NOWHERE)
			at->seen[i] = leaves(loop, &at->turn, condition_of(loop, block, next));
	}
}

/* Whether the turns begin at once where what is left of a division by their count is zero. */
static bool is_division(const struct unrolled *loop, struct division *at)
{
	uint8_t equal = mal_flow_last(loop->graph, loop->divides)->condition;
	int64_t mask, last = loop->count - 1;

	at->number = mal_turn_compared(&at->turn, MAL_EQUAL);
	at->turns = at->number ? mal_turn_masked(at->turn.values, at->number, &mask) : 0;
	/* Bits may be where they are. */
	for (; at->turns && mask > last && !(mask & 1); at->shift++)
		mask >>= 1;
	return !at->turn.failed && at->turns && mask == last &&
	       (equal == MAL_EQUAL || equal == MAL_NOT_EQUAL) &&
	       loop->graph->blocks[loop->divides].next[equal == MAL_NOT_EQUAL] == loop->many;
}

/* Whether a block before it leaves where LEFT says so; FIRST: one that leaves to the end. */
static bool is_guarded(const struct unrolled *loop, const struct division *at, uint32_t earlier,
		       mal_value left, uint32_t *first)
{
	bool guarded = 0;

	*first = 0;
	for (uint32_t i = earlier; i > 0; i--) {
		if (!at->seen[i] || at->seen[i] != left)
			continue;
		guarded = 1;
		if (other_way(loop, loop->path[i], loop->path[i - 1]) == loop->end)
			*first = i;
	}
	return guarded;
}

/*
 * Whether one turn alone is repeated as often as all of it: seen by what the last blocks before the
 * turns do, from the one that is EARLIER on.
 */
static bool counts(struct unrolled *loop, uint32_t earlier)
{
	bool rounds = loop->condition != MAL_EQUAL;
	struct division at = {0};
	struct mal_sum left;
	uint32_t first;
	int64_t step;

	run_to_division(loop, earlier, &at);
	if (!is_division(loop, &at) || !compared(loop, &at.turn, &left, &step))
		return 0;
	if ((!is_guarded(loop, &at, earlier, mal_sum_value(at.turn.values, &left), &first) &&
	     rounds) ||
	    !direct(loop->condition, &left, &step) ||
	    !divides(loop, &at.turn, at.turns, at.shift, &left, step, rounds) ||
	    !leads_to_copies(loop, &at.turn, at.number, at.shift) || at.turn.failed)
		return 0;
	loop->first = first;
	return 1;
}

/*
 * What registers were before a turn that ended as DONE, or where it LEAVES: what it steps is a step
 * back, and all else as BEFORE, without it. The turn is done again, to see that.
 */
static bool find_before(const struct unrolled *loop, const struct mal_turn *done,
			const struct mal_turn *leaves, struct mal_turn *before)
{
	uint64_t live = loop->live.blocks[loop->one];
	struct mal_turn again;
	int64_t by;

	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++) {
		mal_value unset = mal_turn_unset(done->values, 1 + reg), step;
		mal_value set = loop->turn.registers[reg];
		bool half = mal_turn_is_half(done->values, set);

		step = mal_turn_plus(before, half ? mal_turn_low(before, set) : set, unset, -1);
		if (!(live & MAL_BIT(reg)) || !mal_is_number(done->values, step, &by))
			continue;
		set = mal_turn_plus(before, done->registers[reg], step, -1);
		before->registers[reg] = half ? mal_turn_half(before, set) : set;
	}
	again = *before;
	run(loop, &again, loop->one);
	return is_same(&again, done, live) && is_same(&again, leaves, loop->live.blocks[loop->end]);
}

/* An instruction that sets REG to FROM, or to a NUMBER; or adds that. */
static struct mal_instruction made(unsigned int reg, unsigned int from, int64_t number, bool adds,
				   bool half)
{
	struct mal_operand to = {.kind = MAL_OPERAND_REGISTER,
				 .reg = (uint8_t)reg,
				 .base = MAL_NO_REGISTER,
				 .index = MAL_NO_REGISTER,
				 .read = adds,
				 .written = 1,
				 .bytes = reg >= 16 ? 16
					  : half    ? 4
						    : 8};
	struct mal_operand other = to;

	other.kind = from == MAL_NO_REGISTER ? MAL_OPERAND_NUMBER : MAL_OPERAND_REGISTER;
	other.reg = (uint8_t)from;
	other.number = number;
	other.read = 1;
	other.written = 0;
	return (struct mal_instruction){.mnemonic = adds ? ZYDIS_MNEMONIC_ADD : ZYDIS_MNEMONIC_MOV,
					.action = adds ? MAL_ACTION_ADD : MAL_ACTION_MOVE,
					.reads = (adds ? MAL_BIT(reg) : 0) |
						 (from == MAL_NO_REGISTER ? 0 : MAL_BIT(from)),
					.writes = MAL_BIT(reg) | (adds ? MAL_BIT(MAL_FLAGS) : 0),
					.operand_count = 2,
					.operands = {to, other}};
}

/* How to make of what registers are what they were BEFORE; how many instructions, or -1. */
static int undo(const struct unrolled *loop, struct mal_turn *now, const struct mal_turn *before,
		struct mal_instruction *list, int room)
{
	int count = 0;

	for (int moves = 1; moves >= 0; moves--)
		for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++) {
			mal_value wanted = before->registers[reg];
			unsigned int from = reg < MAL_XMM0 ? 0 : MAL_XMM0;
			unsigned int end = reg < MAL_XMM0 ? MAL_XMM0 : MAL_MASK0;
			bool half = mal_turn_is_half(now->values, wanted);
			mal_value more = mal_turn_plus(now, wanted, now->registers[reg], -1);
			int64_t number;

			if (half)
				more = mal_turn_low(now, more);
			if (!(loop->live.blocks[loop->one] & MAL_BIT(reg)) ||
			    now->registers[reg] == wanted ||
			    mal_is_number(now->values, more, &number) == moves)
				continue;
			while (from < end && now->registers[from] != wanted)
				from++;
			if (moves && from == end) {
				if (!mal_is_number(now->values, wanted, &number))
					return -1;
				from = MAL_NO_REGISTER;
			}
			if (count == room || reg >= end || (!moves && reg >= MAL_XMM0))
				return -1;
			list[count] = made(reg, moves ? from : MAL_NO_REGISTER, number, !moves,
					   !moves && half);
			mal_turn_step(now, &list[count++]);
		}
	return is_same(now, before, loop->live.blocks[loop->one]) ? count : -1;
}

/* Whether what AT sets is not in use behind it; else what is in use before it. */
static bool is_idle(const struct unrolled *loop, const struct mal_instruction *at, uint64_t *live)
{
	if (!has_effect(at) && !(at->writes & *live))
		return 1;
	*live = mal_live_before(&loop->live, at, *live);
	return 0;
}

static void leave_out(struct mal_instruction *at)
{
	*at = (struct mal_instruction){.address = at->address,
				       .length = at->length,
				       .mnemonic = at->mnemonic,
				       .action = MAL_ACTION_NONE};
}

/* BLOCK leads to TO alone; its last instruction does nothing. */
static void lead(struct mal_flow_graph *graph, uint32_t block, uint32_t to)
{
	struct mal_block *at = &graph->blocks[block];
	struct mal_instruction *last = &graph->instructions[at->first + at->count - 1];

	at->next[0] = to;
	at->next_count = 1;
	if (last->flow != MAL_FLOW_NEXT)
		leave_out(last);
}

/* The path from the first turn on, with the first KEPT of its effects. */
static void run_path(const struct unrolled *loop, struct mal_turn *turn, uint32_t kept)
{
	run_block(loop, turn, loop->path[loop->first], kept);
	for (uint32_t i = loop->first; i-- > 0;)
		run(loop, turn, loop->path[i]);
}

/*
 * Sets registers to what they were BEFORE the first turn: the division's block does that in place
 * of what it no longer has to do.
 */
static bool set_back(const struct unrolled *loop, uint32_t kept, const struct mal_turn *before)
{
	struct mal_flow_graph *graph = loop->graph;
	struct mal_block *at = &graph->blocks[loop->divides];
	struct mal_instruction *old = &graph->instructions[at->first];
	struct mal_instruction *list = calloc(2 * (size_t)at->count, sizeof(*list));
	uint64_t live = loop->live.blocks[loop->one];
	struct mal_turn now;
	uint32_t count = 0;
	int more = -1;

	mal_turn_begin(&now, before->program, before->values);
	run_block(loop, &now, loop->path[loop->first], kept);
	for (uint32_t i = loop->first; i-- > 1;)
		run(loop, &now, loop->path[i]);
	/* Backwards, and then in their order. */
	for (uint32_t i = at->count - 1; list && i-- > 0;)
		if (!is_idle(loop, &old[i], &live))
			list[at->count + count++] = old[i];
	for (uint32_t i = 0; i < count; i++) {
		list[i] = list[at->count + count - 1 - i];
		mal_turn_step(&now, &list[i]);
	}
	if (list)
		more = undo(loop, &now, before, list + count, (int)(at->count - count));
	for (uint32_t i = count; (int)i < (int)count + more; i++) {
		list[i].address = old[i].address;
		list[i].length = old[i].length;
	}
	if (now.values->full)
		more = -1;
	if (more >= 0) {
		memset(&loop->live.calls[at->first], 0, at->count * sizeof(*loop->live.calls));
		memcpy(old, list, (count + (uint32_t)more) * sizeof(*old));
		at->count = count + (uint32_t)more;
		/* No block is empty. */
		if (!at->count)
			leave_out(&old[at->count++]);
	}
	free(list);
	return more >= 0;
}

/* A turn that comes before the division becomes one of those that are repeated. */
static void take_first(const struct unrolled *loop)
{
	struct mal_flow_graph *graph = loop->graph;
	const struct mal_block *at = &graph->blocks[loop->path[loop->first]];
	struct mal_turn done, leaves, before;
	uint32_t kept;

	mal_turn_begin(&leaves, loop->program, loop->turn.values);
	kept = run_block(loop, &leaves, loop->path[loop->first], UINT32_MAX) + 1;
	done = leaves;
	for (uint32_t i = loop->first; i-- > 0;) {
		if (run_block(loop, &done, loop->path[i], UINT32_MAX) ||
		    (i && graph->blocks[loop->path[i]].next_count != 1))
			return;
	}
	while (kept-- > 0) {
		mal_turn_begin(&before, loop->program, done.values);
		run_path(loop, &before, kept);
		if (find_before(loop, &done, &leaves, &before) && set_back(loop, kept, &before))
			break;
	}
	for (uint32_t i = 0, effects = 0; kept != UINT32_MAX && i < at->count; i++) {
		struct mal_instruction *one = &graph->instructions[at->first + i];

		if (has_effect(one) && effects++ >= kept)
			leave_out(one);
	}
	if (kept != UINT32_MAX)
		lead(graph, loop->path[loop->first], loop->path[loop->first - 1]);
}

static bool is_unrolled(struct unrolled *loop)
{
	const struct mal_block *blocks = loop->graph->blocks;
	bool is = 0;

	if (!are_turns(loop) || !is_closed(loop))
		return 0;
	loop->path[0] = loop->divides;
	loop->first = 0;
	for (uint32_t i = 0; i <= EARLIER && !loop->first; i++) {
		is |= counts(loop, i);
		if (i == EARLIER || blocks[loop->path[i]].before_count != 1)
			break;
		loop->path[i + 1] = blocks[loop->path[i]].before[0];
	}
	return is;
}

/* Whether BLOCK does nothing but lead to another one. */
static bool is_empty(const struct mal_flow_graph *graph, uint32_t block)
{
	const struct mal_block *at = &graph->blocks[block];
	bool empty = at->next_count == 1 && at->next[0] != block;

	for (uint32_t i = 0; i < at->count; i++) {
		const struct mal_instruction *one = &graph->instructions[at->first + i];

		empty &= one->flow == MAL_FLOW_JUMP || one->mnemonic == ZYDIS_MNEMONIC_NOP;
	}
	return empty;
}

/* Blocks that do nothing are passed; whether there were some. */
static bool pass_empty(struct mal_flow_graph *graph)
{
	bool passed = 0;

	for (uint32_t i = 0; i < graph->block_count; i++)
		for (uint32_t j = 0; j < graph->blocks[i].next_count; j++) {
			uint32_t *next = &graph->blocks[i].next[j];

			if (is_empty(graph, *next)) {
				*next = graph->blocks[*next].next[0];
				passed = 1;
			}
		}
	return passed;
}

static int take_back(struct unrolled *loop)
{
	struct mal_flow_graph *graph = loop->graph;

	if (pass_empty(graph) && mal_flow_order(graph) < 0)
		return -1;
	for (uint32_t i = 0; i < graph->block_count; i++) {
		struct mal_block *one;
		bool is;

		if (graph->blocks[i].order < 0 || !find_parts(loop, i))
			continue;
		if (mal_values_make(&loop->values) < 0)
			return -1;
		mal_live_find(&loop->live);
		is = is_unrolled(loop) && !loop->values.full;
		if (is && loop->first)
			take_first(loop);
		mal_values_free(&loop->values);
		if (!is)
			continue;
		one = &graph->blocks[loop->one];
		one->next[one->next[1] == i] = loop->one;
		lead(graph, loop->divides, loop->one);
		if (mal_flow_order(graph) < 0)
			return -1;
	}
	return 0;
}

int mal_unrolled_take_back(struct mal_program *program, struct mal_flow_graph *graph, bool returns)
{
	static const uint64_t returned =
		MAL_BIT(MAL_RAX) | MAL_BIT(MAL_RDX) | (uint64_t)3 << MAL_XMM0;
	struct unrolled loop = {.program = program,
				.graph = graph,
				.live = {.image = program->image,
					 .graph = graph,
					 .returned = mal_saved | (returns ? returned : 0),
					 .unknown = mal_given_most,
					 .lost = MAL_BIT(MAL_FLAGS)}};
	bool some = 0;
	int result = 0;

	for (uint32_t i = 0; i < graph->block_count; i++)
		some |= leads_to_itself(graph, i);
	if (!some)
		return 0;
	result = mal_live_make(&loop.live) == 0 ? take_back(&loop) : -1;
	mal_live_free(&loop.live);
	return result;
}

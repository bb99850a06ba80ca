/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* merge.c: what holds where several ways meet. */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/analysis.h"
#include "libmalleable/inspect/changes.h"

enum { WAYS = 64 };

/* The ways into a block. */
struct ways {
	struct mal_analysis *analysis;
	uint32_t block;
	size_t count;
	uint32_t from[WAYS];
	/* Of values that are positions: the first ones, by which others are told. */
	mal_value base[WAYS];
	mal_value position;
};

/* Whether a value is made of what an iteration of the loop of HEADER made. */
static int made_in(const struct mal_analysis *analysis, const struct mal_form *form,
		   uint32_t header)
{
	for (unsigned int i = 0; i < form->count; i++) {
		const struct mal_term *term = &form->terms[i];
		const struct mal_symbol *symbols = analysis->values.symbols;

		if (symbols[term->symbol].class == MAL_CLEAN &&
		    mal_flow_in_loop(&analysis->graph, (int)header, symbols[term->symbol].block))
			return 1;
		if (term->factor &&
		    mal_flow_in_loop(&analysis->graph, (int)header, symbols[term->factor].block))
			return 1;
	}
	if (form->kind == MAL_FIRST)
		return made_in(analysis, &analysis->values.forms[form->a], header);
	if (form->kind == MAL_PAIR)
		return made_in(analysis, &analysis->values.forms[form->b], header) ||
		       made_in(analysis, &analysis->values.forms[form->c], header);
	return form->kind == MAL_MERGED;
}

/* VALUE as it is behind the loops that the way FROM a block TO another leaves. */
mal_value mal_leave(struct mal_analysis *analysis, uint32_t from, uint32_t to, mal_value value)
{
	const struct mal_form *form = &analysis->values.forms[value];

	if (form->kind == MAL_LINEAR && form->count == 0)
		return value;
	for (uint32_t i = 0; i < analysis->before_count; i++) {
		const struct mal_before *before = &analysis->before[i];
		int loop = analysis->graph.blocks[before->block].loop;
		int tries = loop >= 0 && mal_flow_in_loop(&analysis->graph, loop, from);

		if ((loop < 0 ? from == before->block
			      : tries && !mal_flow_in_loop(&analysis->graph, loop, to)) &&
		    mal_is_before(&analysis->values, before, value))
			return mal_taint(&analysis->values, mal_before_text);
	}
	mal_work(analysis, analysis->graph.block_count);
	for (uint32_t header = 0; header < analysis->graph.block_count; header++)
		if (analysis->loops[header].kind != MAL_SHARE_NONE &&
		    mal_flow_in_loop(&analysis->graph, (int)header, from) &&
		    !mal_flow_in_loop(&analysis->graph, (int)header, to) &&
		    made_in(analysis, form, header))
			return mal_taint(&analysis->values, "what a thread's last iteration left");
	return value;
}

/* How often VALUE has the beginning of a share; 0 where it is no position. */
static int64_t times_low(const struct mal_values *values, mal_value value)
{
	const struct mal_form *form = &values->forms[value];

	if (form->kind != MAL_LINEAR)
		return 0;
	for (unsigned int i = 0; i < form->count; i++)
		if (values->symbols[form->terms[i].symbol].class == MAL_LOW)
			return form->terms[i].factor ? 0 : form->terms[i].times;
	return 0;
}

/* A new position that stands for VALUES, one for each way; all in a block move together. */
static mal_value join_positions(struct ways *ways, const mal_value *found, uint32_t role)
{
	struct mal_values *values = &ways->analysis->values;
	int64_t times = times_low(values, found[0]), unit;
	mal_value rest = 0;

	if (times == 0)
		return 0;
	if (!ways->base[0]) {
		struct mal_symbol symbol = {.class = MAL_LOW, .block = ways->block, .role = role};

		if (times != 1)
			return 0;
		for (size_t i = 0; i < ways->count; i++)
			if (times_low(values, found[i]) != 1)
				return 0;
		memcpy(ways->base, found, ways->count * sizeof(*found));
		symbol.extra = mal_family(values, found[0]);
		symbol.address =
			ways->analysis->graph
				.instructions[ways->analysis->graph.blocks[ways->block].first]
				.address;
		ways->position = mal_of_symbol(values, mal_symbol(values, &symbol));
		return ways->position;
	}
	unit = times_low(values, ways->base[0]);
	if (unit == 0 || times % unit)
		return 0;
	for (size_t i = 0; i < ways->count; i++) {
		mal_value one;

		if (values->forms[found[i]].kind != MAL_LINEAR)
			return 0;
		one = mal_add(values, found[i], ways->base[i], -(times / unit));
		if (!one || (rest && rest != one))
			return 0;
		rest = one;
	}
	if (mal_shows(ways->analysis, rest, ways->block, -1))
		return 0;
	return mal_add(values, rest, ways->position, times / unit);
}

/* The end of a share, where it is cut at the end of the loop. */
static mal_value join_ends(struct ways *ways, const mal_value *found)
{
	struct mal_analysis *analysis = ways->analysis;
	struct mal_values *values = &analysis->values;
	mal_value high = 0, other = 0;

	if (ways->count != 2)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		const struct mal_form *form = &values->forms[found[i]];

		if (form->kind == MAL_LINEAR && form->count == 1 &&
		    values->symbols[form->terms[0].symbol].class == MAL_HIGH &&
		    form->terms[0].times == 1)
			high = found[i];
		else if (!mal_shows(analysis, found[i], ways->block, -1))
			other = found[i];
	}
	if (!high || !other)
		return 0;
	for (uint32_t block = 0; block < analysis->graph.block_count; block++) {
		const struct mal_branch *branch = &analysis->branches[block];

		if (analysis->graph.blocks[block].postdominator == (int)ways->block &&
		    branch->class == MAL_BRANCH_SHARE &&
		    (branch->difference == mal_add(values, high, other, -1) ||
		     branch->difference == mal_add(values, other, high, -1)))
			return high;
	}
	return 0;
}

/* Which side of which partition a way is on: 0 for none. */
static int side_of(const struct ways *ways, size_t way, mal_value *partition)
{
	const struct mal_state *end = &ways->analysis->ends[ways->from[way]];
	const struct mal_branch *branch = &ways->analysis->branches[ways->from[way]];

	if (branch->class == MAL_BRANCH_SIDE) {
		*partition = branch->partition;
		return branch->one == ways->block ? 1 : 2;
	}
	*partition = end->partition;
	return end->side;
}

static mal_value join_sides(struct ways *ways, const mal_value *found)
{
	mal_value left, right;
	int side = 0, other = 0;

	if (ways->count == 2) {
		side = side_of(ways, 0, &left);
		other = side_of(ways, 1, &right);
	}
	if (!side || side + other != 3 || left != right)
		return 0;
	return mal_pair(ways->analysis, left, found[side == 1 ? 0 : 1], found[side == 1 ? 1 : 0]);
}

/*
 * Whether all threads come to BLOCK, in no share of a loop. What leaves a result as it is may meet
 * one there: a way that all of them take together set it.
 */
static int is_behind_shares(const struct mal_analysis *analysis, uint32_t block)
{
	for (uint32_t header = 0; header < analysis->graph.block_count; header++)
		if (analysis->loops[header].kind != MAL_SHARE_NONE &&
		    mal_flow_in_loop(&analysis->graph, (int)header, block))
			return 0;
	return !analysis->shared;
}

/*
 * Whether a part of an iteration that runs by what a thread has done before ends at BLOCK: what is
 * added there, or not, depends on where its share began.
 */
static int is_parted(const struct ways *ways)
{
	const struct mal_analysis *analysis = ways->analysis;

	for (size_t i = 0; i < ways->count; i++)
		if (analysis->reducing[ways->from[i]] && !analysis->reducing[ways->block])
			return !is_behind_shares(analysis, ways->block);
	return 0;
}

static mal_value join(struct ways *ways, const mal_value *found, uint64_t key)
{
	struct mal_analysis *analysis = ways->analysis;
	struct mal_location *location;
	int differs = analysis->joins[ways->block];
	const char *reason = NULL;
	mal_value value;
	size_t i;

	for (i = 1; i < ways->count && found[i] == found[0]; i++)
		;
	/* What an iteration that was left over had ends with it, whichever of them it was. */
	if (i >= ways->count && differs && mal_is_tail_taint(&analysis->values, found[0]))
		return mal_taint(&analysis->values, "a value that threads set differently");
	if (i >= ways->count)
		return found[0];
	/* Set on one way alone: no compiler reads it. */
	for (i = 0; i < ways->count; i++)
		if (mal_is_nothing(&analysis->values, found[i]))
			return mal_taint(&analysis->values, mal_lost);
	location = mal_location(analysis, ways->block, key | (uint64_t)1 << 63);
	if (!location)
		return mal_taint(&analysis->values, "too large");
	value = join_sides(ways, found);
	if (!value && !is_parted(ways))
		value = mal_join_partial(analysis, found, ways->count,
					 differs ? MAL_WAYS_PART
					 : is_behind_shares(analysis, ways->block)
						 ? MAL_WAYS_TOGETHER
						 : MAL_WAYS_ROUND);
	if (!value && differs)
		value = join_ends(ways, found);
	if (!value && differs)
		value = join_positions(ways, found, mal_location_role(analysis, location));
	if (value)
		return value;
	for (i = 0; i < ways->count; i++) {
		const char *one = mal_shows(analysis, found[i], ways->block, -1);

		if (!reason || reason == mal_unset || reason == mal_lost)
			reason = one ? one : reason;
	}
	/* What an iteration had ends with it. */
	if ((!reason && differs) || reason == mal_tail)
		reason = "a value that threads set differently";
	if (reason)
		return mal_taint(&analysis->values, reason);
	value = mal_of_fold(analysis, found, ways->count);
	return value ? value : mal_location_symbol(analysis, location, MAL_CLEAN);
}

static const struct mal_stack_slot *slot_like(const struct mal_state *state,
					      const struct mal_stack_slot *slot)
{
	for (uint32_t i = 0; i < state->slot_count; i++)
		if (state->slots[i].base == slot->base && state->slots[i].offset == slot->offset)
			return state->slots[i].bytes == slot->bytes ? &state->slots[i] : NULL;
	return NULL;
}

static void join_slots(struct ways *ways, struct mal_state *state)
{
	struct mal_analysis *analysis = ways->analysis;
	const struct mal_state *first = &analysis->ends[ways->from[0]];

	state->slot_count = 0;
	for (uint32_t i = 0; i < first->slot_count; i++) {
		mal_value found[WAYS];
		size_t j;

		for (j = 0; j < ways->count; j++) {
			const struct mal_stack_slot *slot =
				slot_like(&analysis->ends[ways->from[j]], &first->slots[i]);

			if (!slot)
				break;
			found[j] = mal_leave(analysis, ways->from[j], ways->block, slot->value);
		}
		if (j < ways->count)
			continue;
		state->slots[state->slot_count] = first->slots[i];
		state->slots[state->slot_count++].value =
			join(ways, found, mal_slot_key(&first->slots[i]));
	}
}

static void join_states(struct ways *ways, struct mal_state *state)
{
	struct mal_analysis *analysis = ways->analysis;
	const struct mal_state *first = &analysis->ends[ways->from[0]];

	*state = *first;
	for (unsigned int reg = 0; reg < MAL_REGISTERS + 16; reg++) {
		mal_value found[WAYS];
		int rest = reg >= MAL_REGISTERS;

		for (size_t i = 0; i < ways->count; i++) {
			const struct mal_state *end = &analysis->ends[ways->from[i]];
			mal_value value =
				rest ? end->rest[reg - MAL_REGISTERS] : end->registers[reg];

			/* The whole of it was written on this way. */
			if (rest && !value)
				value = end->registers[reg - MAL_REGISTERS];
			found[i] = mal_leave(analysis, ways->from[i], ways->block, value);
		}
		if (rest) {
			int parts = 0;

			for (size_t i = 0; i < ways->count; i++)
				parts |= analysis->ends[ways->from[i]].rest[reg - MAL_REGISTERS] !=
					 0;
			state->rest[reg - MAL_REGISTERS] = parts ? join(ways, found, reg) : 0;
		} else {
			state->registers[reg] = join(ways, found, reg);
		}
	}
	for (size_t i = 1; i < ways->count; i++) {
		const struct mal_state *end = &analysis->ends[ways->from[i]];

		if (end->flags != state->flags || end->left != state->left ||
		    end->right != state->right) {
			state->flags = MAL_FLAGS_VALUE;
			state->left = mal_taint(&analysis->values, "flags of several ways");
			state->right = 0;
		}
		if (end->side != state->side || end->partition != state->partition)
			state->side = 0;
	}
	join_slots(ways, state);
}

void mal_enter(struct mal_analysis *analysis, uint32_t block, struct mal_state *state)
{
	const struct mal_block *at = &analysis->graph.blocks[block];
	struct ways ways = {.analysis = analysis, .block = block};

	state->live = 0;
	for (uint32_t i = 0; i < at->before_count; i++) {
		uint32_t from = at->before[i];

		if (analysis->graph.blocks[from].order < 0 || !analysis->ends[from].live ||
		    (at->header && mal_flow_in_loop(&analysis->graph, (int)block, from)))
			continue;
		if (ways.count == WAYS) {
			analysis->values.full = 1;
			return;
		}
		ways.from[ways.count++] = from;
	}
	if (ways.count == 0)
		return;
	join_states(&ways, state);
	state->live = 1;
	/* The sides of a partition end where they meet. */
	if (ways.count > 1 && analysis->joins[block])
		state->side = 0;
	mal_take_branch(analysis, ways.count == 1 ? ways.from[0] : UINT32_MAX, block, state);
	if (at->header)
		mal_enter_loop(analysis, block, state);
}

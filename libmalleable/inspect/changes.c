/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * changes.c: how each register and slot of the stack changes in a loop. First nothing does; what is
 * found to change by a step is linear in the rounds; what is reduced stays a partial result; the
 * rest is carried, which a shared loop must not show.
 */
#include "libmalleable/inspect/changes.h"

#include <string.h>

/* A chain of values, each read by the iteration before. */
enum { WAITS = 12 };

static const char carried_text[] = "a value is carried from iteration to iteration";

static mal_value changed_value(struct mal_analysis *analysis, struct mal_location *location)
{
	struct mal_values *values = &analysis->values;
	int shared = analysis->loops[location->block].kind != MAL_SHARE_NONE;
	const struct mal_symbol *symbol;
	mal_value value = 0;

	/* What holds nothing before the first round is not read in others either. */
	if (location->change != MAL_CHANGE_NONE && mal_is_nothing(values, location->entry))
		return mal_taint(values, mal_lost);

	switch (location->change) {
	case MAL_CHANGE_NONE: return location->entry;
	case MAL_CHANGE_OPEN:
		return mal_location_symbol(analysis, location, shared ? MAL_CARRIED : MAL_CLEAN);
	case MAL_CHANGE_STEP:
		if (values->forms[location->entry].kind == MAL_LINEAR)
			value = mal_times_rounds(analysis, location->block, location->value);
		if (value)
			value = mal_add(values, location->entry, value, 1);
		if (value)
			return value;
		location->change = MAL_CHANGE_ANY;
		return mal_taint(values, carried_text);
	case MAL_CHANGE_PARTIAL:
		value = mal_location_symbol(analysis, location, MAL_CARRIED);
		return mal_form(values,
				&(struct mal_form){.kind = MAL_PARTIAL,
						   .operation = location->operation,
						   .a = values->forms[value].terms[0].symbol,
						   .b = location->width});
	case MAL_CHANGE_RELOAD:
	case MAL_CHANGE_FIXED: return location->value;
	case MAL_CHANGE_POSITION:
		symbol = &values->symbols[values->forms[location->entry].terms[0].symbol];
		value = mal_location_symbol(analysis, location, symbol->class);
		{
			struct mal_symbol bound =
				values->symbols[values->forms[value].terms[0].symbol];

			bound.extra = mal_family(values, location->entry);
			return mal_of_symbol(values, mal_symbol(values, &bound));
		}
	case MAL_CHANGE_ANY:
		if (!shared)
			return mal_location_symbol(analysis, location, MAL_CLEAN);
		break;
	default: break;
	}
	return mal_taint(values, carried_text);
}

void mal_enter_loop(struct mal_analysis *analysis, uint32_t header, struct mal_state *state)
{
	struct mal_location *location;

	for (unsigned int reg = 0; reg < MAL_REGISTERS + 16; reg++) {
		mal_value *value = reg < MAL_REGISTERS ? &state->registers[reg]
						       : &state->rest[reg - MAL_REGISTERS];

		location = mal_location(analysis, header, reg);
		if (!location)
			return;
		location->entry = *value;
		if (reg >= MAL_REGISTERS)
			*value = location->change == MAL_CHANGE_NONE
					 ? *value
					 : mal_taint(&analysis->values, "part of a register");
		else
			*value = changed_value(analysis, location);
	}
	for (uint32_t i = 0; i < state->slot_count;) {
		location = mal_location(analysis, header, mal_slot_key(&state->slots[i]));
		if (!location)
			return;
		location->bytes = state->slots[i].bytes;
		location->entry = state->slots[i].value;
		if (location->change == MAL_CHANGE_TAINT && !location->value) {
			memmove(&state->slots[i], &state->slots[i + 1],
				(state->slot_count - i - 1) * sizeof(state->slots[0]));
			state->slot_count--;
			continue;
		}
		state->slots[i++].value = changed_value(analysis, location);
	}
	state->flags = MAL_FLAGS_VALUE;
	state->left = mal_taint(&analysis->values, "flags of several ways");
	state->right = 0;
}

/* What LOCATION holds at the end of BLOCK; 0 where that is not known. */
static mal_value at_end(const struct mal_analysis *analysis, const struct mal_location *location,
			uint32_t block)
{
	const struct mal_state *end = &analysis->ends[block];

	if (location->key < MAL_REGISTERS)
		return end->registers[location->key];
	if (location->key < MAL_REGISTERS + 16)
		return end->rest[location->key - MAL_REGISTERS];
	for (uint32_t i = 0; i < end->slot_count; i++)
		if (mal_slot_key(&end->slots[i]) == location->key)
			return end->slots[i].bytes == location->bytes ? end->slots[i].value : 0;
	return 0;
}

/* The value at the ends of all rounds of a loop. */
static mal_value at_ends(struct mal_analysis *analysis, const struct mal_location *location)
{
	const struct mal_block *block = &analysis->graph.blocks[location->block];
	mal_value value = 0;
	int first = 1;

	for (uint32_t i = 0; i < block->before_count; i++) {
		uint32_t from = block->before[i];
		mal_value one, joined;

		if (!mal_flow_in_loop(&analysis->graph, (int)location->block, from) ||
		    !analysis->ends[from].live)
			continue;
		one = at_end(analysis, location, from);
		one = one ? mal_leave(analysis, from, location->block, one) : 0;
		if (first) {
			value = one;
			first = 0;
			continue;
		}
		if (value == one)
			continue;
		if (!value || !one)
			return 0;
		joined = 0;
		/* Rounds that end by what a thread has done before are not alike. */
		if (!analysis->reducing[from] || analysis->reducing[location->block])
			joined = mal_join_partial(analysis, (mal_value[]){value, one}, 2,
						  MAL_WAYS_ROUND);
		if (!joined) {
			const char *reason = mal_shows(analysis, one, location->block, -1);

			if (!reason)
				reason = mal_shows(analysis, value, location->block, -1);
			if (!reason && analysis->joins[location->block])
				reason = "a value that threads set differently";
			joined = reason ? mal_taint(&analysis->values, reason)
					: mal_location_symbol(analysis, location, MAL_CLEAN);
		}
		value = joined;
	}
	return first ? location->entry : value;
}

/* Whether all rounds of the loop of HEADER have the same VALUE. */
static int is_steady(const struct mal_analysis *analysis, mal_value value, uint32_t header)
{
	const struct mal_form *form = &analysis->values.forms[value];

	for (unsigned int i = 0; i < form->count; i++) {
		const struct mal_symbol *symbol = &analysis->values.symbols[form->terms[i].symbol];

		if ((symbol->class != MAL_CLEAN && symbol->class != MAL_THREADS) ||
		    mal_flow_in_loop(&analysis->graph, (int)header, symbol->block))
			return 0;
	}
	return 1;
}

/* A share that moves on by the stride that the runtime gave. */
static int is_stride(const struct mal_analysis *analysis, mal_value step, mal_value entry)
{
	const struct mal_symbol *stride = mal_only_symbol(&analysis->values, step);
	const struct mal_symbol *bound = mal_only_symbol(&analysis->values, entry);

	return stride && bound && stride->class == MAL_LENGTH && stride->role == 12 &&
	       (bound->class == MAL_LOW || bound->class == MAL_HIGH);
}

/* The next share, as the runtime gives it. */
static int is_next(const struct mal_analysis *analysis, mal_value entry, mal_value end)
{
	const struct mal_symbol *from = mal_only_symbol(&analysis->values, entry);
	const struct mal_symbol *to = mal_only_symbol(&analysis->values, end);

	return from && to && from->class == to->class && to->role == 10 &&
	       (to->class == MAL_LOW || to->class == MAL_HIGH);
}

static void settle(struct mal_analysis *analysis, struct mal_location *location, mal_value end)
{
	struct mal_values *values = &analysis->values;
	int shared = analysis->loops[location->block].kind != MAL_SHARE_NONE;
	mal_value open = changed_value(analysis, location), step = 0;
	const struct mal_form *form = &values->forms[end];
	uint32_t symbol = values->forms[open].terms[0].symbol;

	if (shared && location->waits < WAITS && mal_may_reload(analysis, location, end)) {
		location->waits++;
		return;
	}
	location->change = MAL_CHANGE_ANY;
	step = shared ? mal_reloaded(analysis, location, end) : 0;
	if (step) {
		location->change = MAL_CHANGE_RELOAD;
		location->value = step;
		location->fresh = 1;
		return;
	}
	if (form->kind == MAL_PARTIAL && shared && form->a == symbol) {
		location->change = MAL_CHANGE_PARTIAL;
		location->operation = form->operation;
		location->width = (uint8_t)form->b;
		return;
	}
	if (form->kind != MAL_LINEAR)
		return;
	if (shared && is_next(analysis, location->entry, end)) {
		location->change = MAL_CHANGE_POSITION;
		location->value = 0;
		return;
	}
	for (unsigned int i = 0; i < form->count; i++)
		if (form->terms[i].symbol == symbol && form->terms[i].times == 1 &&
		    !form->terms[i].factor)
			step = mal_add(values, end, open, -1);
	if (!step)
		return;
	for (unsigned int i = 0; i < values->forms[step].count; i++)
		if (values->forms[step].terms[i].symbol == symbol)
			return;
	if (is_steady(analysis, step, location->block)) {
		location->change = MAL_CHANGE_STEP;
		location->value = step;
	} else if (shared && is_stride(analysis, step, location->entry)) {
		location->change = MAL_CHANGE_POSITION;
		location->value = step;
	} else if (shared && !mal_shows(analysis, step, location->block, -1)) {
		location->change = MAL_CHANGE_PARTIAL;
		location->operation = MAL_SUM;
	}
}

/* The first step: what changes at all. */
static int open_location(struct mal_analysis *analysis, struct mal_location *location,
			 mal_value end)
{
	mal_value value;

	if (location->change == MAL_CHANGE_OPEN) {
		settle(analysis, location, end);
		return 1;
	}
	if (location->change != MAL_CHANGE_NONE || end == location->entry)
		return 0;
	if (!end) {
		location->change = MAL_CHANGE_TAINT;
		return 1;
	}
	if (location->key >= MAL_REGISTERS && location->key < MAL_REGISTERS + 16) {
		location->change = MAL_CHANGE_TAINT;
		return 1;
	}
	value = mal_join_partial(analysis, (mal_value[]){location->entry, end}, 2, 0);
	if (value) {
		location->change = MAL_CHANGE_FIXED;
		location->value = value;
	} else {
		location->change = MAL_CHANGE_OPEN;
	}
	return 1;
}

static int is_fixed(struct mal_analysis *analysis, mal_value fixed, mal_value value)
{
	return fixed == value ||
	       mal_join_partial(analysis, (mal_value[]){fixed, value}, 2, 0) == fixed;
}

/* The second: whether what was concluded is so. */
static int confirm(struct mal_analysis *analysis, struct mal_location *location, mal_value end)
{
	struct mal_values *values = &analysis->values;
	mal_value now = changed_value(analysis, location);
	const struct mal_form *form = &values->forms[end];

	switch (location->change) {
	case MAL_CHANGE_POSITION:
		if (!location->value && end && is_next(analysis, location->entry, end))
			return 0;
		/* fall through */
	case MAL_CHANGE_STEP:
		if (end && form->kind == MAL_LINEAR && values->forms[now].kind == MAL_LINEAR &&
		    location->value && mal_add(values, end, now, -1) == location->value)
			return 0;
		location->change = MAL_CHANGE_ANY;
		return 1;
	case MAL_CHANGE_PARTIAL:
		if (form->kind == MAL_PARTIAL && form->operation == location->operation &&
		    form->a == values->forms[now].a &&
		    mal_is_neutral(values, location->entry, location->operation)) {
			if (form->b == location->width)
				return 0;
			location->width = (uint8_t)form->b;
			return 1;
		}
		break;
	case MAL_CHANGE_RELOAD:
		if (end && mal_reloaded(analysis, location, end) == location->value)
			return 0;
		break;
	case MAL_CHANGE_FIXED:
		if (end && is_fixed(analysis, location->value, end) &&
		    is_fixed(analysis, location->value, location->entry))
			return 0;
		break;
	default: return 0;
	}
	location->change = MAL_CHANGE_TAINT;
	location->value = 1;
	return 1;
}

/* The third: whether what is not followed is the same for all. */
static int compare(struct mal_analysis *analysis, struct mal_location *location, mal_value end)
{
	if (location->change != MAL_CHANGE_ANY)
		return 0;
	if (end && analysis->loops[location->block].kind == MAL_SHARE_NONE &&
	    !mal_shows(analysis, location->entry, location->block, -1) &&
	    !mal_shows(analysis, end, location->block, -1))
		return 0;
	location->change = MAL_CHANGE_TAINT;
	location->value = end ? 1 : 0;
	return 1;
}

typedef int check(struct mal_analysis *, struct mal_location *, mal_value);

static int check_all(struct mal_analysis *analysis, check *one)
{
	int changed = 0;

	for (size_t i = 0; i < MAL_LOCATIONS; i++) {
		struct mal_location *location = &analysis->locations[i];

		if (location->used && location->entry &&
		    analysis->graph.blocks[location->block].header)
			changed |= one(analysis, location, at_ends(analysis, location));
	}
	return changed;
}

int mal_open_loops(struct mal_analysis *analysis)
{
	int changed = check_all(analysis, open_location);

	mal_reopen(analysis);
	return changed;
}

int mal_check_loops(struct mal_analysis *analysis)
{
	return check_all(analysis, confirm) || check_all(analysis, compare);
}

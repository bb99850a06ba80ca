/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* classes.c: which values are the same whichever thread holds them. */
#include <string.h>

#include "libmalleable/inspect/analysis.h"

const char mal_unset[] = "a register that was never set";
const char mal_lost[] = "a register that a call changes";

const char mal_heap_text[] = "an address of allocated memory";
const char mal_heap_passed[] = "the address of allocated memory";
const char mal_tail[] = "an iteration at the end of a share";

int mal_is_tail_taint(const struct mal_values *values, mal_value value)
{
	return values->forms[value].kind == MAL_TAINT && values->forms[value].reason == mal_tail;
}

const char *mal_worse(const char *left, const char *right)
{
	return !left || (left == mal_tail && right) ? right : left;
}

int mal_is_nothing(const struct mal_values *values, mal_value value)
{
	const struct mal_form *form = &values->forms[value];

	return form->kind == MAL_TAINT && (form->reason == mal_unset || form->reason == mal_lost);
}

void mal_bind(struct mal_analysis *analysis, const char *reason, const char *symbol)
{
	if (!analysis->final || analysis->finding->reason)
		return;
	analysis->finding->reason = reason;
	analysis->finding->symbol = symbol;
	analysis->finding->address = analysis->at ? analysis->at->address : 0;
}

static const char *reason_of(enum mal_symbol_class class)
{
	switch (class) {
	case MAL_CLEAN: return NULL;
	case MAL_STACK: return "an address of private memory";
	case MAL_THREAD:
	case MAL_GLOBAL: return "the thread's number";
	case MAL_THREADS:
	case MAL_ROUND_THREADS: return "the number of threads";
	case MAL_AT: return "memory at the bounds of a thread's share";
	case MAL_CARRIED: return "a value is carried from iteration to iteration";
	case MAL_ONCE: return "which thread runs a block";
	case MAL_MORE:
	case MAL_REDUCE:
	case MAL_LAST: return "what the runtime tells one thread";
	default: return "the bounds of a thread's share";
	}
}

/* The terms of a value, put together as a position: FACTOR * (start + step * rounds). */
struct position {
	uint32_t low, round;
	int64_t times, rounds;
	struct mal_form rest;
	int bad;
};

static void take_term(const struct mal_analysis *analysis, const struct mal_term *term,
		      uint32_t factor, uint32_t header, struct position *position)
{
	const struct mal_symbol *symbol = &analysis->values.symbols[term->symbol];

	if (symbol->class == MAL_CLEAN || term->factor != factor)
		return;
	switch (symbol->class) {
	case MAL_LOW:
	case MAL_THREAD:
		position->bad |= position->low != 0;
		position->low = term->symbol;
		position->times = term->times;
		return;
	case MAL_ROUND:
	case MAL_ROUND_THREADS:
		if (symbol->extra == header) {
			position->bad |= position->round != 0;
			position->round = term->symbol;
			position->rounds = term->times;
			return;
		}
		break;
	case MAL_LENGTH: break;
	default: position->bad = 1; return;
	}
	position->rest.terms[position->rest.count++] = *term;
}

/* Compare a position of a shared loop with the loop's; the first one defines what is not known. */
static int matches(struct mal_analysis *analysis, struct mal_shared_loop *loop,
		   struct position *position)
{
	struct mal_values *values = &analysis->values;
	int threads;
	mal_value start;
	int64_t step;

	if (position->bad || !position->low || !position->round || position->times == 0 ||
	    position->rounds % position->times != 0)
		return 0;
	threads = values->symbols[position->round].class == MAL_ROUND_THREADS;
	if (threads != (values->symbols[position->low].class == MAL_THREAD))
		return 0;
	step = position->rounds / position->times;
	position->rest.kind = MAL_LINEAR;
	for (unsigned int i = 0; i < position->rest.count; i++) {
		position->rest.terms[i].factor = 0;
		if (position->rest.terms[i].times % position->times != 0)
			return 0;
		position->rest.terms[i].times /= position->times;
	}
	start = mal_form(values, &position->rest);
	start = mal_add(values, start, mal_of_symbol(values, position->low), 1);
	if (!start)
		return 0;
	if (!loop->step)
		loop->step = step;
	if (!loop->start)
		loop->start = start;
	return loop->step == step && loop->start == start;
}

/* Whether VALUE is one and the same for whoever runs an iteration of the loop of HEADER. */
static int is_of_iteration(struct mal_analysis *analysis, mal_value value, uint32_t header)
{
	const struct mal_form form = analysis->values.forms[value];
	int64_t times = 0;

	for (unsigned int i = 0; i < form.count; i++) {
		struct position position = {0};
		uint32_t factor = form.terms[i].factor;
		enum mal_symbol_class class = analysis->values.symbols[form.terms[i].symbol].class;

		if (class == MAL_CLEAN)
			continue;
		for (unsigned int j = 0; j < form.count; j++)
			take_term(analysis, &form.terms[j], factor, header, &position);
		if (!matches(analysis, &analysis->loops[header], &position))
			return 0;
		times = factor ? 0 : position.times;
	}
	mal_note_cover(analysis, header, value, times);
	return 1;
}

/*
 * Whether VALUE belongs to one iteration: behind the vectors that run through most of a share,
 * where
 * only the share decides whether there is such an iteration.
 */
static int is_of_tail(const struct mal_analysis *analysis, mal_value value, uint32_t block)
{
	const struct mal_form *form = &analysis->values.forms[value];
	uint32_t low = 0, family = mal_family(&analysis->values, value);
	int64_t times = 0, lengths = 0;

	if (!analysis->merging[block] || analysis->together[block] || analysis->reducing[block])
		return 0;
	for (unsigned int i = 0; i < form->count; i++) {
		const struct mal_term *term = &form->terms[i];
		const struct mal_symbol *symbol = &analysis->values.symbols[term->symbol];

		if (symbol->class == MAL_CLEAN)
			continue;
		if (term->factor)
			return 0;
		if (symbol->class == MAL_LOW && !low) {
			low = term->symbol;
			times = term->times;
		} else if (symbol->class == MAL_LENGTH && mal_is_masked(symbol->role) && !lengths) {
			lengths = term->times;
		} else {
			return 0;
		}
	}
	/*
	 * Where the vectors end: not where the share begins, which a program may keep; and no end
	 * of what a program can have made itself.
	 */
	if (!low || family & MAL_PARTITION)
		return 0;
	/* Those at the beginning that are left over, where their number alone decides. */
	if (!lengths && family && analysis->odd[block] == family)
		return 1;
	return lengths == times || (!lengths && analysis->values.symbols[low].role >= 1000);
}

const char *mal_shows(struct mal_analysis *analysis, mal_value value, uint32_t block, int outside)
{
	const struct mal_form *form = &analysis->values.forms[value];
	const char *reason = NULL;

	switch (form->kind) {
	case MAL_TAINT: return form->reason;
	case MAL_PARTIAL: return "a partial result of a thread";
	case MAL_MERGED: return "a result that is put together";
	case MAL_PAIR: return "the bounds of a thread's share";
	case MAL_FIRST: return mal_shows(analysis, form->a, block, outside);
	default: break;
	}
	for (unsigned int i = 0; i < form->count && !reason; i++)
		reason = reason_of(analysis->values.symbols[form->terms[i].symbol].class);
	/* Until it is known how it changes, the best is assumed. */
	for (unsigned int i = 0; i < form->count && !analysis->final; i++)
		if (analysis->values.symbols[form->terms[i].symbol].class == MAL_CARRIED)
			return NULL;
	if (!reason)
		return NULL;
	mal_work(analysis, analysis->graph.block_count);
	for (uint32_t header = 0; header < analysis->graph.block_count; header++) {
		if (analysis->loops[header].kind != MAL_SHARE_ITERATIONS ||
		    !mal_flow_in_loop(&analysis->graph, (int)header, block))
			continue;
		if (outside >= 0 &&
		    !mal_flow_in_loop(&analysis->graph, (int)header, (uint32_t)outside))
			continue;
		if (is_of_iteration(analysis, value, header))
			return NULL;
	}
	if (form->kind == MAL_LINEAR && is_of_tail(analysis, value, block))
		return mal_tail;
	return reason;
}

mal_value mal_fresh(struct mal_analysis *analysis, enum mal_symbol_class class, uint32_t role)
{
	struct mal_symbol symbol = {
		.class = class,
		.address = analysis->at ? analysis->at->address : 0,
		.role = role,
		.block = analysis->block,
	};

	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

int mal_is_heap(const struct mal_values *values, mal_value value)
{
	const struct mal_form *form = &values->forms[value];

	for (unsigned int i = 0; i < form->count; i++)
		if (values->symbols[form->terms[i].symbol].role == MAL_ROLE_HEAP)
			return 1;
	return 0;
}

static mal_value heap_symbol(struct mal_analysis *analysis, uint64_t address, uint32_t extra)
{
	struct mal_symbol symbol = {.class = MAL_CLEAN,
				    .address = address,
				    .role = MAL_ROLE_HEAP,
				    .block = analysis->graph.order[0],
				    .extra = extra};

	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

mal_value mal_heap_argument(struct mal_analysis *analysis, unsigned int reg)
{
	return heap_symbol(analysis, reg, 0);
}

mal_value mal_heap_at(struct mal_analysis *analysis, mal_value address)
{
	for (uint32_t i = 0; i < analysis->kept_count; i++)
		if (analysis->kept[i] == address)
			return heap_symbol(analysis, MAL_REGISTERS, address);
	return 0;
}

void mal_keep_heap(struct mal_analysis *analysis, mal_value address)
{
	if (mal_heap_at(analysis, address))
		return;
	if (analysis->kept_count == MAL_KEPT)
		analysis->values.full = 1;
	else
		analysis->kept[analysis->kept_count++] = address;
}

const char *mal_compares_heap(struct mal_analysis *analysis, mal_value left, mal_value right,
			      int equality)
{
	struct mal_values *values = &analysis->values;
	int one = mal_is_heap(values, left), other = right && mal_is_heap(values, right);
	mal_value difference;
	int64_t number;

	if (!one && !other)
		return NULL;
	if (one && other) {
		if (equality)
			return NULL;
		difference = mal_add(values, left, right, -1);
		return difference && !mal_is_heap(values, difference) ? NULL : mal_heap_text;
	}
	if (one && mal_only_symbol(values, left) && right &&
	    mal_is_number(values, right, &number) && number == 0)
		return NULL;
	return mal_heap_text;
}

mal_value mal_mixed(struct mal_analysis *analysis, const mal_value *values, size_t count,
		    uint32_t role)
{
	const char *reason = NULL;
	mal_value folded;

	for (size_t i = 0; i < count; i++) {
		if (mal_is_heap(&analysis->values, values[i]))
			return mal_taint(&analysis->values, mal_heap_text);
		reason = mal_worse(reason, mal_shows(analysis, values[i], analysis->block, -1));
	}
	if (reason)
		return mal_taint(&analysis->values, reason);
	folded = mal_of_fold(analysis, values, count);
	return folded ? folded : mal_fresh(analysis, MAL_CLEAN, role);
}

int mal_is_neutral(const struct mal_values *values, mal_value value, unsigned int operation)
{
	const struct mal_form *form = &values->forms[value];
	int64_t number;

	if (form->kind == MAL_PARTIAL)
		return form->operation == operation;
	switch (operation) {
	case MAL_SUM:
	case MAL_XOR: return mal_is_number(values, value, &number) && number == 0;
	case MAL_PRODUCT:
		return mal_is_number(values, value, &number) &&
		       (number == 1 || number == 0x3ff0000000000000 || number == 0x3f800000);
	case MAL_MINIMUM:
	case MAL_MAXIMUM:
	case MAL_AND:
	case MAL_OR:
		/* Whatever all threads begin with alike is reduced once or often. */
		if (form->kind != MAL_LINEAR)
			return 0;
		for (unsigned int i = 0; i < form->count; i++)
			if (values->symbols[form->terms[i].symbol].class != MAL_CLEAN)
				return 0;
		return 1;
	default: return 0;
	}
}

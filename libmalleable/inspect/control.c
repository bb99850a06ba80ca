/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control.c: whether a shared loop runs through a share, and nothing but it. */
#include "libmalleable/inspect/analysis.h"

#ifdef HAVE_ZYDIS

/* The difference that ends a loop: what it is made of. */
struct control {
	int64_t low, high, length, rounds, thread, rounds_threads;
	const struct mal_symbol *low_symbol, *length_symbol;
	uint32_t low_number;
	int clean, bad;
};

static void take(struct mal_analysis *analysis, const struct mal_term *term, uint32_t header,
		 struct control *control)
{
	const struct mal_symbol *symbol = &analysis->values.symbols[term->symbol];
	int64_t *times = NULL;

	switch (symbol->class) {
	case MAL_CLEAN: control->clean = 1; return;
	case MAL_LOW:
		times = &control->low;
		control->low_symbol = symbol;
		control->low_number = term->symbol;
		break;
	case MAL_HIGH: times = &control->high; break;
	case MAL_THREAD:
		times = &control->thread;
		control->low_number = term->symbol;
		break;
	case MAL_ROUND:
		if (symbol->extra == header) {
			times = &control->rounds;
			break;
		}
		/* fall through */
	case MAL_LENGTH:
		times = &control->length;
		control->length_symbol = symbol;
		break;
	case MAL_ROUND_THREADS: times = &control->rounds_threads; break;
	default: break;
	}
	/* Of terms with a clean factor only the kind matters. */
	if (!times || (*times && !term->factor)) {
		control->bad |= !times || symbol->class != MAL_LENGTH;
		return;
	}
	*times = term->times;
}

/* Give the loop the step and the start that its end is told by, or compare them. */
static void settle(struct mal_analysis *analysis, uint32_t header, int64_t step, mal_value start)
{
	struct mal_shared_loop *loop = &analysis->loops[header];

	if (!loop->step)
		loop->step = step;
	if (!loop->start)
		loop->start = start;
	if ((step && loop->step != step) || (start && loop->start != start))
		mal_bind(analysis, "a shared loop with another step", NULL);
}

/* The beginning of the position in DIFFERENCE: LOW once, and lengths. */
static mal_value start_of(struct mal_analysis *analysis, mal_value difference,
			  const struct control *control, uint32_t header)
{
	const struct mal_form form = analysis->values.forms[difference];
	struct mal_form start = {.kind = MAL_LINEAR};

	for (unsigned int i = 0; i < form.count; i++) {
		const struct mal_symbol *symbol = &analysis->values.symbols[form.terms[i].symbol];
		struct mal_term term = form.terms[i];

		if (term.factor)
			return 0;
		if (symbol->class != MAL_LOW && symbol->class != MAL_LENGTH &&
		    !(symbol->class == MAL_ROUND && symbol->extra != header))
			continue;
		if (term.times % control->low)
			return 0;
		term.times /= control->low;
		start.terms[start.count++] = term;
	}
	return mal_form(&analysis->values, &start);
}

/* gcc's share can be copied by hand: it is one only if its loop has exactly its bounds. */
static void check_exact(struct mal_analysis *analysis, uint32_t header, uint32_t block,
			const struct control *control)
{
	const struct mal_branch *branch = &analysis->branches[block];
	const struct mal_block *at = &analysis->graph.blocks[block];
	int64_t constant = analysis->values.forms[branch->difference].constant;
	int condition = (int)branch->condition, latch = 0, expected;

	int64_t unit = control->low < 0 ? -control->low : control->low;

	if (control->clean || control->length || control->high != -control->low ||
	    control->rounds != control->low || constant % unit) {
		mal_bind(analysis, "a share whose loop has other bounds", NULL);
		return;
	}
	constant /= unit;
	for (uint32_t i = 0; i < at->next_count; i++)
		latch |= at->next[i] == header;
	expected = latch ? 1 : 0;
	if (!latch && block != header) {
		mal_bind(analysis, "a share whose loop ends in its middle", NULL);
		return;
	}
	/* The condition to go on, for the position less the end. */
	if (!mal_flow_in_loop(&analysis->graph, (int)header, at->next[0])) {
		static const int negated[] = {MAL_NOT_LESS, MAL_LESS,  MAL_NOT_MORE, MAL_MORE_THAN,
					      MAL_UNEQUAL,  MAL_EQUAL, MAL_UNCLEAR};

		condition = negated[condition];
	}
	if (control->low < 0) {
		static const int turned[] = {MAL_MORE_THAN, MAL_NOT_MORE, MAL_LESS,   MAL_NOT_LESS,
					     MAL_EQUAL,	    MAL_UNEQUAL,  MAL_UNCLEAR};

		constant = -constant;
		condition = turned[condition];
	}
	if ((condition == MAL_LESS || condition == MAL_UNEQUAL) && constant == expected)
		return;
	if (condition == MAL_NOT_MORE && constant == expected - 1)
		return;
	mal_bind(analysis, "a share whose loop has other bounds", NULL);
}

void mal_check_exit(struct mal_analysis *analysis, uint32_t header, uint32_t block)
{
	mal_value difference = analysis->branches[block].difference;
	const struct mal_form form = analysis->values.forms[difference];
	struct control control = {0};

	for (unsigned int i = 0; i < form.count; i++)
		take(analysis, &form.terms[i], header, &control);
	if (control.bad) {
		mal_bind(analysis, "a shared loop whose end is not understood", NULL);
	} else if (control.thread) {
		if (control.rounds_threads != control.thread || control.low || control.rounds ||
		    control.high || control.length ||
		    analysis->branches[block].condition == MAL_EQUAL ||
		    analysis->branches[block].condition == MAL_UNEQUAL ||
		    analysis->branches[block].condition == MAL_UNCLEAR)
			mal_bind(analysis, "a loop by the thread's number", NULL);
		else
			settle(analysis, header, 1,
			       mal_of_symbol(&analysis->values, control.low_number));
	} else if (control.low && control.rounds) {
		if (control.rounds % control.low || (control.high && control.high != -control.low))
			mal_bind(analysis, "a shared loop with another step", NULL);
		else
			settle(analysis, header, control.rounds / control.low,
			       start_of(analysis, difference, &control, header));
		if (mal_family(&analysis->values, difference) & MAL_PARTITION)
			check_exact(analysis, header, block, &control);
	} else if (mal_family(&analysis->values, difference) & MAL_PARTITION) {
		mal_bind(analysis, "a share whose loop has other bounds", NULL);
	} else if (control.rounds && control.length) {
		/* How many rounds: by a mask of the length, or by a shift. */
		if (mal_is_masked(control.length_symbol->role) &&
		    control.rounds % control.length == 0)
			settle(analysis, header, -control.rounds / control.length, 0);
	} else if (!(control.low && control.low_symbol->block == header)) {
		mal_bind(analysis, "a shared loop whose end is not understood", NULL);
	}
}

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* guards.c: whether a branch by the bounds of a share only asks what the share itself would. */
#include "libmalleable/inspect/analysis.h"

#ifdef HAVE_ZYDIS

/* Whether the bounds in VALUE are those that the loop of HEADER gets in each round. */
static int is_made_in(const struct mal_analysis *analysis, mal_value value, uint32_t header)
{
	const struct mal_form *form = &analysis->values.forms[value];

	for (unsigned int i = 0; i < form->count; i++) {
		const struct mal_symbol *symbol = &analysis->values.symbols[form->terms[i].symbol];

		if ((symbol->class == MAL_LOW || symbol->class == MAL_HIGH ||
		     symbol->class == MAL_LENGTH) &&
		    !mal_flow_in_loop(&analysis->graph, (int)header, symbol->block))
			return 0;
	}
	return 1;
}

static int is_exit(const struct mal_analysis *analysis, uint32_t header, uint32_t block)
{
	const struct mal_block *at = &analysis->graph.blocks[block];

	for (uint32_t i = 0; i < at->next_count; i++)
		if (analysis->graph.blocks[at->next[i]].ends &&
		    !mal_flow_in_loop(&analysis->graph, (int)header, at->next[i]))
			return 1;
	return 0;
}

/* Whether a share is empty: its beginning against its end, and nothing else. */
static int asks_for_empty(const struct mal_analysis *analysis, mal_value difference)
{
	const struct mal_form *form = &analysis->values.forms[difference];
	const struct mal_symbol *symbols = analysis->values.symbols;

	return form->count == 2 && form->constant == 0 && !form->terms[0].factor &&
	       !form->terms[1].factor && form->terms[0].times == -form->terms[1].times &&
	       symbols[form->terms[0].symbol].class != symbols[form->terms[1].symbol].class &&
	       symbols[form->terms[0].symbol].class != MAL_LENGTH &&
	       symbols[form->terms[1].symbol].class != MAL_LENGTH;
}

/* Whether VALUE has the thread's number or that of threads in it, alone or with rounds. */
static int has_number(const struct mal_analysis *analysis, mal_value value)
{
	const struct mal_form *form = &analysis->values.forms[value];

	for (unsigned int i = 0; i < form->count; i++)
		switch (analysis->values.symbols[form->terms[i].symbol].class) {
		case MAL_THREAD:
		case MAL_THREADS:
		case MAL_ROUND_THREADS: return 1;
		default: break;
		}
	return 0;
}

/* VALUE without what rounds and the number of threads add to it. */
static mal_value at_first_round(struct mal_analysis *analysis, mal_value value)
{
	const struct mal_form form = analysis->values.forms[value];
	struct mal_form first = form;

	first.count = 0;
	for (unsigned int i = 0; i < form.count; i++) {
		enum mal_symbol_class class = analysis->values.symbols[form.terms[i].symbol].class;

		if (class != MAL_THREADS && class != MAL_ROUND_THREADS)
			first.terms[first.count++] = form.terms[i];
	}
	return mal_form(&analysis->values, &first);
}

/* Whether the branch at the end of BLOCK asks what the end of the loop of HEADER asks first. */
static int asks_for_loop(struct mal_analysis *analysis, uint32_t block, uint32_t header)
{
	mal_value asked = at_first_round(analysis, analysis->branches[block].difference);

	for (uint32_t at = 0; at < analysis->graph.block_count; at++) {
		mal_value end = analysis->branches[at].difference;

		if (end && analysis->ends[at].live &&
		    analysis->branches[at].class == MAL_BRANCH_SHARE &&
		    mal_flow_in_loop(&analysis->graph, (int)header, at) &&
		    is_exit(analysis, header, at) && has_number(analysis, end)) {
			end = at_first_round(analysis, end);
			return end == asked || mal_scale(&analysis->values, end, -1) == asked;
		}
	}
	return 0;
}

/*
 * A branch by the number itself: the end of a loop that goes by it, or the question before such a
 * loop whether there is a first round. All else is what a program asks of the number.
 */
static int is_of_cycle(struct mal_analysis *analysis, uint32_t block, uint32_t job)
{
	const struct mal_branch *branch = &analysis->branches[block];

	if (branch->condition == MAL_EQUAL || branch->condition == MAL_UNEQUAL ||
	    branch->condition == MAL_UNCLEAR)
		return 0;
	for (uint32_t header = 0; header < analysis->graph.block_count; header++) {
		if (analysis->loops[header].kind != MAL_SHARE_ITERATIONS)
			continue;
		if (mal_flow_in_loop(&analysis->graph, (int)header, block)) {
			if (is_exit(analysis, header, block))
				return 1;
		} else if (mal_flow_in_loop(&analysis->graph, (int)header, job) &&
			   asks_for_loop(analysis, block, header)) {
			return 1;
		}
	}
	return 0;
}

uint32_t mal_decides(struct mal_analysis *analysis, uint32_t block, uint32_t job)
{
	const struct mal_branch *branch = &analysis->branches[block];
	const uint32_t other = (uint32_t)1 << MAL_BRANCH_OTHER;
	uint32_t family =
		branch->difference ? mal_family(&analysis->values, branch->difference) : 0;
	int ends = 0;

	if (branch->class != MAL_BRANCH_SHARE)
		return (uint32_t)1 << branch->class;
	if (branch->difference && has_number(analysis, branch->difference) &&
	    !is_of_cycle(analysis, block, job))
		return other;
	for (uint32_t header = 0; header < analysis->graph.block_count; header++) {
		mal_value start = analysis->loops[header].start;
		int within;

		if (analysis->loops[header].kind != MAL_SHARE_ITERATIONS)
			continue;
		within = mal_flow_in_loop(&analysis->graph, (int)header, block);
		ends |= within && is_exit(analysis, header, block);
		if (!mal_flow_in_loop(&analysis->graph, (int)header, job))
			continue;
		if (start && mal_family(&analysis->values, start) != family)
			return other;
		if (within && !is_exit(analysis, header, block) &&
		    !is_made_in(analysis, branch->difference, header))
			return other;
	}
	if (family & MAL_PARTITION && !ends && !asks_for_empty(analysis, branch->difference))
		return other;
	return (uint32_t)1 << MAL_BRANCH_SHARE;
}

#endif

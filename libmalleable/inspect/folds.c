/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * folds.c: numbers that several iterations have alike: a quotient or a rest by a divisor that the
 * program found out when it ran, as the number of threads that it was told. Memory at such a place
 * is of one thread only while that many threads share the iterations as they did: with others two
 * of them write it at once. Both together, or one beside the iteration's own number, are each
 * iteration's alone.
 */
#include "libmalleable/inspect/analysis.h"

/* Of a value: the folds in it; and what else tells iterations apart. */
struct folds {
	uint32_t division, kinds;
	int several, others;
};

static uint32_t kind_of(const struct mal_symbol *symbol)
{
	switch (symbol->role) {
	case MAL_ROLE_QUOTIENT:
	case MAL_ROLE_OF_QUOTIENT: return 1;
	case MAL_ROLE_REST:
	case MAL_ROLE_OF_REST: return 2;
	default: return 0;
	}
}

static int in_share(const struct mal_analysis *analysis, uint32_t block)
{
	for (uint32_t header = 0; header < analysis->graph.block_count; header++)
		if (analysis->loops[header].kind == MAL_SHARE_ITERATIONS &&
		    mal_flow_in_loop(&analysis->graph, (int)header, block))
			return 1;
	return 0;
}

enum { DEPTH = 3 };

static int varies(const struct mal_analysis *analysis, mal_value value, int depth);

/* Whether SYMBOL may be another one in each iteration; what inner loops count is not. */
static int symbol_varies(const struct mal_analysis *analysis, const struct mal_symbol *symbol,
			 int depth)
{
	if (symbol->class != MAL_CLEAN)
		return 1;
	if (symbol->role == 1 || !in_share(analysis, symbol->block))
		return 0;
	if (symbol->role != 350 || !symbol->extra || depth == DEPTH)
		return 1;
	return varies(analysis, symbol->extra, depth + 1);
}

static int varies(const struct mal_analysis *analysis, mal_value value, int depth)
{
	const struct mal_form *form = &analysis->values.forms[value];

	for (unsigned int i = 0; i < form->count; i++)
		if (symbol_varies(analysis, &analysis->values.symbols[form->terms[i].symbol],
				  depth))
			return 1;
	return form->kind != MAL_LINEAR;
}

static void add_folds(const struct mal_analysis *analysis, mal_value value, struct folds *folds)
{
	const struct mal_values *values = &analysis->values;
	const struct mal_form *form = &values->forms[value];

	folds->others |= form->kind != MAL_LINEAR;
	for (unsigned int i = 0; i < form->count; i++) {
		const struct mal_symbol *symbol = &values->symbols[form->terms[i].symbol];
		uint32_t kind = symbol->class == MAL_CLEAN ? kind_of(symbol) : 0;

		if (!kind) {
			folds->others |= symbol_varies(analysis, symbol, 0);
			continue;
		}
		folds->several |= folds->kinds && folds->division != symbol->extra;
		folds->division = symbol->extra;
		folds->kinds |= kind;
	}
}

/* The only fold that tells iterations apart in VALUES, 0 where there is none or more. */
static uint32_t only_fold(const struct mal_analysis *analysis, const mal_value *values,
			  size_t count, uint32_t *division)
{
	struct folds folds = {0};

	for (size_t i = 0; i < count; i++)
		add_folds(analysis, values[i], &folds);
	*division = folds.division;
	return folds.several || folds.others || folds.kinds == 3 ? 0 : folds.kinds;
}

static mal_value fold(struct mal_analysis *analysis, uint32_t role, uint32_t division)
{
	struct mal_symbol symbol = {.class = MAL_CLEAN,
				    .address = analysis->at ? analysis->at->address : 0,
				    .role = role,
				    .block = analysis->block,
				    .extra = division};

	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

mal_value mal_fold(struct mal_analysis *analysis, mal_value value, mal_value by, uint32_t role)
{
	const struct mal_form *form = &analysis->values.forms[value];

	if (analysis->values.forms[by].kind != MAL_LINEAR || form->kind != MAL_LINEAR ||
	    form->count == 0 || analysis->values.forms[by].count == 0 ||
	    mal_shows(analysis, value, analysis->block, -1) ||
	    mal_shows(analysis, by, analysis->block, -1))
		return mal_mixed(analysis, (mal_value[]){value, by}, 2, role);
	/* However it is divided, in a narrow and a wide way as compilers do. */
	return fold(analysis, role, value);
}

mal_value mal_of_fold(struct mal_analysis *analysis, const mal_value *values, size_t count)
{
	uint32_t division, kind = only_fold(analysis, values, count, &division);

	return kind ? fold(analysis, kind == 1 ? MAL_ROLE_OF_QUOTIENT : MAL_ROLE_OF_REST, division)
		    : 0;
}

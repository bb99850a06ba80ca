/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rounds.c: what the rounds of a loop add up to. */
#include "libmalleable/inspect/changes.h"

mal_value mal_times_rounds(struct mal_analysis *analysis, uint32_t header, mal_value step)
{
	struct mal_values *values = &analysis->values;
	const struct mal_form form = values->forms[step];
	int shared = analysis->loops[header].kind != MAL_SHARE_NONE;
	struct mal_symbol rounds = {.class = shared ? MAL_ROUND : MAL_CLEAN,
				    .role = 1,
				    .block = header,
				    .extra = header};
	mal_value sum = mal_of_symbol(values, mal_symbol(values, &rounds));

	sum = mal_scale(values, sum, form.constant);
	for (unsigned int i = 0; i < form.count; i++) {
		struct mal_form one = {.kind = MAL_LINEAR, .count = 1};
		struct mal_symbol symbol = rounds;

		one.terms[0].times = form.terms[i].times;
		if (values->symbols[form.terms[i].symbol].class == MAL_THREADS) {
			if (!shared || form.terms[i].factor)
				return 0;
			symbol.class = MAL_ROUND_THREADS;
		} else {
			if (form.terms[i].factor)
				return 0;
			one.terms[0].factor = form.terms[i].symbol;
		}
		one.terms[0].symbol = mal_symbol(values, &symbol);
		sum = mal_add(values, sum, mal_form(values, &one), 1);
		if (!sum)
			return 0;
	}
	return sum;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bracket.c: the search that bracket.h describes. */
#include "policies/model/bracket.h"

#define NUMBERS 32

void mal_bracket_begin(struct mal_bracket *bracket, int min, int max, int best)
{
	*bracket = (struct mal_bracket){min - 1, max + 1, 1, 1u << best};
}

/* Those from FIRST to LAST that are in FRESH, ascending, in LIST. Returns how many. */
static int list_fresh(unsigned int fresh, int first, int last, int *list)
{
	int count = 0;

	for (int number = first; number <= last; number++)
		if (fresh >> number & 1)
			list[count++] = number;
	return count;
}

int mal_bracket_next(struct mal_bracket *bracket, int best, unsigned int fresh)
{
	int below[NUMBERS], above[NUMBERS], next;
	int fewer = list_fresh(fresh, bracket->low + 1, best - 1, below);
	int more = list_fresh(fresh, best + 1, bracket->high - 1, above);

	if (!fewer && !more)
		return 0;
	if (bracket->step && fewer) {
		int i = fewer - 1;

		while (i && below[i] > best - bracket->step)
			i--;
		next = below[i];
	} else {
		next = fewer > more ? below[fewer / 2] : above[more / 2];
	}
	bracket->measured |= 1u << next;
	return next;
}

/* The next step down from BEST: no further than to half of it. */
static int next_step(const struct mal_bracket *bracket, int best)
{
	return 2 * bracket->step <= best / 2 ? 2 * bracket->step : best / 2;
}

void mal_bracket_keep(struct mal_bracket *bracket, int best, int tried)
{
	if (tried > best)
		bracket->low = best;
	else
		bracket->high = best;
	bracket->step = next_step(bracket, tried);
}

void mal_bracket_drop(struct mal_bracket *bracket, int best, int tried, bool past_it)
{
	int step = next_step(bracket, best);

	if (tried > best) {
		bracket->high = tried;
	} else if (past_it && step > bracket->step) {
		bracket->step = step;
	} else {
		bracket->low = tried;
		bracket->step = 0;
	}
}

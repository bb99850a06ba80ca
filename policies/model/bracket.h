/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bracket.h: where the minimum is of what has one minimum over a small whole number.
 *
 * From the best number known the search goes down, in steps that double as long as that is not
 * known to be too few, to half of the best at most; then it takes the middle of what is left on
 * the larger side of the best (Bentley, Yao: An almost optimal algorithm for unbounded searching,
 * 1976).
 *
 * Invariant: it ends, and no number is chosen twice (t/unit/test_policies.c:
 * explore_finds_the_best, explore_measures_no_number_twice, steps_down_double).
 */
#pragma once

#include <stdbool.h>

struct mal_bracket {
	int low, high;	       /* too few and too many: the best is between them */
	int step;	       /* down; 0: LOW has been seen to be too few */
	unsigned int measured; /* numbers, as bits */
};

/* Begin with BEST, of the numbers MIN to MAX; MAX is 31 at most. */
void mal_bracket_begin(struct mal_bracket *bracket, int min, int max, int best);

/* Choose the next number, of those whose bits are set in FRESH. Returns 0 if none is left. */
int mal_bracket_next(struct mal_bracket *bracket, int best, unsigned int fresh);

/* TRIED is better than BEST was. */
void mal_bracket_keep(struct mal_bracket *bracket, int best, int tried);

/* TRIED is not better than BEST. PAST_IT: fewer may still be. */
void mal_bracket_drop(struct mal_bracket *bracket, int best, int tried, bool past_it);

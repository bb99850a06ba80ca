/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* operations.h: what operations make of expressions. */
#pragma once

#include "libmalleable/prover/code/expressions.h"

mal_value mal_make(struct mal_values *values, enum mal_kind kind, int64_t key, mal_value a,
		   mal_value b, mal_value c);
mal_value mal_plus(struct mal_values *values, mal_value a, mal_value b);
mal_value mal_minus(struct mal_values *values, mal_value a, mal_value b);
mal_value mal_times(struct mal_values *values, mal_value left, mal_value right);

/* What a thread's iterations, or less, become in an operation that is not followed. */
mal_value mal_blur(struct mal_values *values, const mal_value *some, size_t count, uint64_t key);

/* The same, in one that leaves it to be such a place. */
mal_value mal_spread(struct mal_values *values, const mal_value *some, size_t count, uint64_t key);

/* VALUE as several iterations may have it: FLAG is MAL_FOLDED, MAL_LEFT or none. */
mal_value mal_fold(struct mal_values *values, mal_value value, uint32_t flag);

/* Whether a loop may begin with VALUE as one of a thread's iterations. */
bool mal_is_place(struct mal_values *values, mal_value value);

/* RESULT, which is one of A and B. */
mal_value mal_choice(struct mal_values *values, mal_value result, mal_value a, mal_value b);

/* B - A where that is seen at once: an expression in *STEP. */
bool mal_difference(struct mal_values *values, mal_value a, mal_value b, mal_value *step);

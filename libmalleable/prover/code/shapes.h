/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* shapes.h: which expressions of a thread's number choose its iterations. */
#pragma once

#include "libmalleable/prover/code/expressions.h"

/* The shape of an expression, found by its values for several threads and teams. */
const struct mal_node *mal_shape_of(struct mal_values *values, mal_value value);

/* Whether A starts and B steps the chunks that gcc gives to a thread. */
bool mal_is_chunk_step(struct mal_values *values, mal_value a, mal_value b);

/*
 * How many iterations a loop of a share goes on by as it steps VALUE once: *LENGTH where VALUE
 * counts them, else the result, negative from the last iteration on. 0: it does not step VALUE.
 */
enum { MAL_NO_PACE = INT32_MIN };
int64_t mal_pace(const struct mal_values *values, mal_value value, int *length);

/* Whether VALUE is that, or the end of a chunk: the lesser of it and of all iterations. */
bool mal_is_bound(struct mal_values *values, mal_value value);

/* Whether VALUE is no more than what follows from a thread's iterations. */
bool mal_is_share(struct mal_values *values, mal_value value);

/*
 * Whether A and B compare so for a thread without iterations, and without being chosen: 1 or 0; -1
 * if not known.
 */
int mal_without_share(struct mal_values *values, enum mal_condition condition, mal_value a,
		      mal_value b);

bool mal_compare(enum mal_condition condition, int64_t a, int64_t b);

/* Whether what differs among threads cancels out of VALUE. */
bool mal_is_common(const struct mal_values *values, mal_value value);

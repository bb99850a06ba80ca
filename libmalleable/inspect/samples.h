/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * samples.h: what expressions are for several threads of several teams, with symbols that have
 * arbitrary values, and how that compares with gcc's division of iterations.
 */
#ifndef MAL_INSPECT_SAMPLES_H
#define MAL_INSPECT_SAMPLES_H

#include "libmalleable/inspect/expressions.h"

enum { MAL_TEAMS = 6 };
extern const int mal_teams[MAL_TEAMS];

/* With odd seeds symbols are negative. */
struct mal_sample {
	int64_t thread, threads;
	unsigned int seed;
	/* Bounds of LLVM's runtime. */
	int64_t low, high;
	/* How often a loop has stepped its values. */
	int64_t steps;
};

int mal_compare(enum mal_condition condition, int64_t a, int64_t b);
int64_t mal_evaluate(const struct mal_values *values, mal_value value,
		     const struct mal_sample *sample);

/* Whether what differs among threads cancels out of VALUE. */
int mal_is_common(const struct mal_values *values, mal_value value);

/* What shapes an expression may have, by what it changes with. */
enum mal_fit { MAL_FIT_LENGTH, MAL_FIT_START, MAL_FIT_END, MAL_FITS };

/* What all threads of all teams have, found as it is asked for. */
struct mal_points {
	const struct mal_values *values;
	mal_value value, n; /* N is what is divided, or 0: then the thread's number is the start */
	unsigned int seed;
	size_t team; /* the next one, and its thread */
	int thread, count, few;
	struct {
		int64_t start, length, now;
	} list[1 + 2 + 3 + 4 + 5 + 7];
};

/*
 * Whether the value is *FACTOR times what FIT says plus *REST for all threads of all teams; -1
 * where that cannot be seen.
 */
int mal_fits(struct mal_points *points, enum mal_fit fit, int64_t *factor, int64_t *rest);

#endif

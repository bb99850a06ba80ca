/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* compare.h: policies that run over a trace, for malleable replay and malleable report. */
#ifndef MAL_CMD_COMPARE_H
#define MAL_CMD_COMPARE_H

#include <stddef.h>

#include "libmalleable/trace/trace.h"
#include "policies/decide/simulation.h"
#include "policies/interface/choice.h"

#define MAL_COMPARE_MAX 16

struct mal_compared {
	const char *spec;
	struct mal_choice choice;
	struct mal_simulation *simulation;
	double *window_s; /* predicted, by window */
};

/* All 0: nobody takes part. */
struct mal_comparison {
	struct mal_compared list[MAL_COMPARE_MAX];
	size_t count;
};

/* POLICY[,KEY=VALUE...] takes part; SPEC outlives it. Returns 0, or -1 with ERR: too many. */
int mal_compare_add(struct mal_comparison *comparison, const char *spec, struct mal_error *err);

/*
 * Those that are usual, where none was added, and find all of them; loadable ones are below LIBDIR.
 * Returns 0, or -1 with ERR.
 */
int mal_compare_choose(struct mal_comparison *comparison, const char *libdir,
		       struct mal_error *err);

/*
 * Run all over TRACE, which must stay until mal_compare_clear(). Returns 0, or -1 with ERR: out of
 * memory.
 */
int mal_compare_run(struct mal_comparison *comparison, const struct mal_trace *trace,
		    struct mal_error *err);

/* Forget the trace, and what came of it; the policies stay. */
void mal_compare_clear(struct mal_comparison *comparison);

/* VALUE in TEXT, of SIZE bytes, with DIGITS behind the point, or - where it is not known. */
const char *mal_compare_number(double value, int digits, char *text, size_t size);

#endif

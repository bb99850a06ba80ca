/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* contest.h: policies that run over a trace, for malleable replay. */
#ifndef MAL_CMD_CONTEST_H
#define MAL_CMD_CONTEST_H

#include <stddef.h>

#include "libmalleable/trace/trace.h"
#include "policies/decide/simulation.h"
#include "policies/interface/choice.h"

#define MAL_CONTEST_MAX 16

struct mal_contender {
	const char *spec;
	struct mal_choice choice;
	struct mal_simulation *simulation;
	double *window_s; /* predicted, by window */
};

/* All 0: nobody takes part. */
struct mal_contest {
	struct mal_contender list[MAL_CONTEST_MAX];
	size_t count;
};

/* POLICY[,KEY=VALUE...] takes part; SPEC outlives it. Returns 0, or -1 with ERR: too many. */
int mal_contest_add(struct mal_contest *contest, const char *spec, struct mal_error *err);

/*
 * Those that are usual, where none was added, and find all of them; loadable ones are below LIBDIR.
 * Returns 0, or -1 with ERR.
 */
int mal_contest_choose(struct mal_contest *contest, const char *libdir, struct mal_error *err);

/*
 * Run all over TRACE, which must stay until mal_contest_clear(). Returns 0, or -1 with ERR: out of
 * memory.
 */
int mal_contest_run(struct mal_contest *contest, const struct mal_trace *trace,
		    struct mal_error *err);

/* Forget the trace, and what came of it; the policies stay. */
void mal_contest_clear(struct mal_contest *contest);

/* VALUE in TEXT, of SIZE bytes, with DIGITS behind the point, or - where it is not known. */
const char *mal_contest_number(double value, int digits, char *text, size_t size);

#endif

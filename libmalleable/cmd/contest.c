/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* contest.c: policies that run over a trace. */
#include "libmalleable/cmd/contest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/loadable/loadable.h"

static const char *const usual[] = {"off", "lewi", "sabo", "auto"};

int mal_contest_add(struct mal_contest *contest, const char *spec, struct mal_error *err)
{
	if (contest->count == MAL_CONTEST_MAX)
		return mal_fail(err, "more than %d policies", MAL_CONTEST_MAX);
	contest->list[contest->count++].spec = spec;
	return 0;
}

int mal_contest_choose(struct mal_contest *contest, const char *libdir, struct mal_error *err)
{
	if (mal_loadable_add(getenv(MAL_LOADABLE_VARIABLE), err) < 0)
		return -1;
	if (!contest->count)
		for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
			contest->list[contest->count++].spec = usual[i];
	for (size_t i = 0; i < contest->count; i++)
		if (mal_loadable_choose(contest->list[i].spec, libdir, NULL,
					&contest->list[i].choice, err) < 0)
			return -1;
	return 0;
}

static int run(struct mal_contender *contender, const struct mal_trace *trace,
	       struct mal_error *err)
{
	contender->simulation =
		mal_simulation_create(contender->choice.policy, contender->choice.values,
				      &trace->topology, trace->rank_count, trace->windows[0].owner);
	contender->window_s = calloc(trace->window_count, sizeof(double));
	if (!contender->simulation || !contender->window_s)
		return mal_fail(err, "out of memory");
	for (size_t i = 0; i < trace->window_count; i++)
		contender->window_s[i] = mal_simulation_window(
			contender->simulation, mal_trace_samples(trace, &trace->windows[i]));
	return 0;
}

int mal_contest_run(struct mal_contest *contest, const struct mal_trace *trace,
		    struct mal_error *err)
{
	for (size_t i = 0; i < contest->count; i++)
		if (run(&contest->list[i], trace, err) < 0)
			return -1;
	return 0;
}

void mal_contest_clear(struct mal_contest *contest)
{
	for (size_t i = 0; i < contest->count; i++) {
		mal_simulation_destroy(contest->list[i].simulation);
		free(contest->list[i].window_s);
		contest->list[i].simulation = NULL;
		contest->list[i].window_s = NULL;
	}
}

const char *mal_contest_number(double value, int digits, char *text, size_t size)
{
	snprintf(text, size, isfinite(value) ? "%.*f" : "-", digits, value);
	return text;
}

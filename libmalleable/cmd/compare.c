/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* compare.c: policies that run over a trace. */
#include "libmalleable/cmd/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/loadable/loadable.h"

static const char *const usual[] = {"off", "lewi", "sabo", "auto"};

int mal_compare_add(struct mal_comparison *comparison, const char *spec, struct mal_error *err)
{
	if (comparison->count == MAL_COMPARE_MAX)
		return mal_fail(err, "more than %d policies", MAL_COMPARE_MAX);
	comparison->list[comparison->count++].spec = spec;
	return 0;
}

int mal_compare_choose(struct mal_comparison *comparison, const char *libdir, struct mal_error *err)
{
	if (mal_loadable_add(getenv(MAL_LOADABLE_VARIABLE), err) < 0)
		return -1;
	if (!comparison->count)
		for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
			comparison->list[comparison->count++].spec = usual[i];
	for (size_t i = 0; i < comparison->count; i++)
		if (mal_loadable_choose(comparison->list[i].spec, libdir, NULL,
					&comparison->list[i].choice, err) < 0)
			return -1;
	return 0;
}

static int run(struct mal_compared *compared, const struct mal_trace *trace, struct mal_error *err)
{
	compared->simulation =
		mal_simulation_create(compared->choice.policy, compared->choice.values,
				      &trace->topology, trace->rank_count, trace->windows[0].owner);
	compared->window_s = calloc(trace->window_count, sizeof(double));
	if (!compared->simulation || !compared->window_s)
		return mal_fail(err, "out of memory");
	for (size_t i = 0; i < trace->window_count; i++)
		compared->window_s[i] = mal_simulation_window(
			compared->simulation, mal_trace_samples(trace, &trace->windows[i]));
	return 0;
}

int mal_compare_run(struct mal_comparison *comparison, const struct mal_trace *trace,
		    struct mal_error *err)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (run(&comparison->list[i], trace, err) < 0)
			return -1;
	return 0;
}

void mal_compare_clear(struct mal_comparison *comparison)
{
	for (size_t i = 0; i < comparison->count; i++) {
		mal_simulation_destroy(comparison->list[i].simulation);
		free(comparison->list[i].window_s);
		comparison->list[i].simulation = NULL;
		comparison->list[i].window_s = NULL;
	}
}

const char *mal_compare_number(double value, int digits, char *text, size_t size)
{
	snprintf(text, size, isfinite(value) ? "%.*f" : "-", digits, value);
	return text;
}

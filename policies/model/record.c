/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record.c: the record of forecasts. */
#include "policies/model/record.h"

#include <math.h>
#include <string.h>

#include "policies/interface/limits.h"
#include "policies/model/apportion.h"

/* Weight of a new cost in the moving average. */
#define NEW 0.2
/* Leave home for what was cheaper by so many times the error of its mean. */
#define HOME_ERRORS 1.6
/* Follow another forecast if it was cheaper by this factor. */
#define BETTER 0.995

void mal_record_reset(struct mal_record *record, size_t rank_count, const unsigned int *home)
{
	*record = (struct mal_record){.best = MAL_RECORD_HOME};
	for (unsigned int kind = 0; kind < MAL_RECORDS; kind++) {
		memcpy(record->count[kind], home, rank_count * sizeof(*home));
		memcpy(record->older[kind], home, rank_count * sizeof(*home));
	}
}

/* Is the difference of KIND from home more than luck? Its error is that of a mean. */
static bool is_sure(const struct mal_record *record, unsigned int kind)
{
	double gain = record->cost[MAL_RECORD_HOME] - record->cost[kind];
	double windows = fmin(record->judged - 1, 2 / NEW);

	return gain * gain * windows > HOME_ERRORS * HOME_ERRORS * record->spread[kind];
}

/* Home is left for what is surely cheaper. */
static void choose(struct mal_record *record)
{
	unsigned int best = record->best == MAL_RECORD_HOME ? 0 : record->best;

	for (unsigned int kind = 0; kind < MAL_FORECAST_KINDS; kind++)
		if (record->cost[kind] < BETTER * record->cost[best])
			best = kind;
	record->best = record->cost[best] < record->cost[MAL_RECORD_HOME] && is_sure(record, best)
			       ? best
			       : MAL_RECORD_HOME;
}

void mal_record_judge(struct mal_record *record, const struct mal_view *view,
		      const struct mal_load *loads, unsigned int cpus, bool late)
{
	double costs[MAL_RECORDS], weight;

	/* In the first window nothing was forecast. */
	if (record->judged++ == 0)
		return;
	/* At first the plain mean: one lucky window is no record. */
	weight = fmax(NEW, 1.0 / (record->judged - 1));
	for (unsigned int kind = 0; kind < MAL_RECORDS; kind++) {
		const unsigned int *wanted = late ? record->older[kind] : record->count[kind];
		double cost = mal_apportion_longest(view, loads, wanted) * cpus;

		record->cost[kind] += weight * (cost - record->cost[kind]);
		costs[kind] = cost;
	}
	for (unsigned int kind = 0; kind < MAL_FORECAST_KINDS; kind++) {
		double gain = record->cost[MAL_RECORD_HOME] - record->cost[kind];
		double off = costs[MAL_RECORD_HOME] - costs[kind] - gain;

		record->spread[kind] += weight * (off * off - record->spread[kind]);
	}
	choose(record);
}

bool mal_record_want(struct mal_record *record, const struct mal_view *view,
		     const struct mal_forecast *forecast, unsigned int cpus)
{
	struct mal_load loads[MAL_MAX_RANKS];

	for (unsigned int kind = 0; kind < MAL_FORECAST_KINDS; kind++) {
		memcpy(record->older[kind], record->count[kind],
		       view->rank_count * sizeof(record->count[kind][0]));
		mal_forecast_get(forecast, (enum mal_forecast_kind)kind, loads);
		if (!mal_apportion(view, loads, cpus, record->count[kind]))
			return false;
	}
	return true;
}

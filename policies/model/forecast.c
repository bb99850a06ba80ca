/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* forecast.c: forecast each rank's load by last value, moving averages and trend. */
#include "policies/model/forecast.h"

#include <math.h>
#include <string.h>

#include "policies/interface/limits.h"

/* Weight of a new error in the moving average. */
#define FORGET 0.3
/* A miss above JUMP_MIN plus JUMP times the usual error is a jump: the average starts anew. */
#define JUMP 4.0
#define JUMP_MIN 0.05
/* Weight of the past in the long average. */
#define LONG 0.9

static double part(double past, double now, double keep)
{
	return keep * past + (1 - keep) * now;
}

static struct mal_load mix(const struct mal_load *past, const struct mal_load *now, double keep)
{
	return (struct mal_load){part(past->work, now->work, keep),
				 part(past->serial, now->serial, keep)};
}

static void expect(struct mal_past *past, const struct mal_load *now, double smooth, bool jumped)
{
	struct mal_load *expected = past->expected;
	struct mal_load before = past->known && !jumped ? expected[MAL_FORECAST_LAST] : *now;

	expected[MAL_FORECAST_TREND].work = fmax(2 * now->work - before.work, 0);
	expected[MAL_FORECAST_TREND].serial = fmax(2 * now->serial - before.serial, 0);
	expected[MAL_FORECAST_AVERAGE] =
		mix(&expected[MAL_FORECAST_AVERAGE], now, past->known && !jumped ? smooth : 0);
	expected[MAL_FORECAST_SLOW] =
		mix(&expected[MAL_FORECAST_SLOW], now, past->known ? LONG : 0);
	expected[MAL_FORECAST_LAST] = *now;
	past->known = true;
}

double mal_forecast_whole(const struct mal_view *view)
{
	double sum = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		sum += view->samples[rank].running
			       ? view->samples[rank].work_s + view->samples[rank].serial_s
			       : 0;
	return sum;
}

/* Returns the part of the work that the moving average expected at a wrong rank. */
static double find_miss(const struct mal_forecast *forecast, const struct mal_load *now)
{
	double missed = 0;

	for (size_t rank = 0; rank < forecast->count; rank++)
		if (forecast->ranks[rank].known)
			missed += fabs(forecast->ranks[rank].expected[MAL_FORECAST_AVERAGE].work -
				       now[rank].work);
	return missed;
}

bool mal_forecast_learn(struct mal_forecast *forecast, const struct mal_view *view)
{
	double whole = mal_forecast_whole(view), missed;
	struct mal_load now[MAL_MAX_RANKS];
	bool jumped;

	if (forecast->count != view->rank_count)
		memset(forecast->ranks, 0, sizeof(forecast->ranks));
	forecast->count = view->rank_count;
	mal_scaling_learn(&forecast->scaling, view);
	if (whole <= 0)
		return false;
	/* Take parts of the whole, so that windows made longer by imbalance weigh the same. */
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		struct mal_load load =
			mal_scaling_load(&forecast->scaling, rank, &view->samples[rank]);

		now[rank] = (struct mal_load){load.work / whole, load.serial / whole};
	}
	missed = find_miss(forecast, now);
	jumped = missed > JUMP_MIN + JUMP * forecast->error;
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (view->samples[rank].running)
			expect(&forecast->ranks[rank], &now[rank], forecast->smooth, jumped);
	forecast->error = part(forecast->error, missed, 1 - FORGET);
	return true;
}

void mal_forecast_get(const struct mal_forecast *forecast, enum mal_forecast_kind kind,
		      struct mal_load *loads)
{
	for (size_t rank = 0; rank < forecast->count; rank++)
		loads[rank] = forecast->ranks[rank].expected[kind];
}

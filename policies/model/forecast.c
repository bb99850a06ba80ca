/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* forecast.c: forecast each rank's load by last value, moving averages and trend. */
#include "policies/model/forecast.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "policies/interface/limits.h"

/* Weight of a new error in the moving average. */
#define FORGET 0.3
/* A miss above JUMP_MIN plus JUMP times the usual error is a jump: the average starts anew. */
#define JUMP 4.0
#define JUMP_MIN 0.05
/* Weight of the past in the long average. */
#define LONG 0.9

struct past {
	struct mal_load expected[MAL_FORECAST_KINDS];
	bool known;
};

struct mal_forecast {
	double smooth;
	struct mal_scaling *scaling;
	double error; /* moving average of the part of the work expected at a wrong rank */
	size_t count;
	struct past *ranks;
};

struct mal_forecast *mal_forecast_create(double smooth)
{
	struct mal_forecast *forecast = calloc(1, sizeof(*forecast));

	if (!forecast)
		return NULL;
	forecast->smooth = smooth;
	forecast->scaling = mal_scaling_create();
	if (forecast->scaling)
		return forecast;
	free(forecast);
	return NULL;
}

void mal_forecast_destroy(struct mal_forecast *forecast)
{
	if (!forecast)
		return;
	mal_scaling_destroy(forecast->scaling);
	free(forecast->ranks);
	free(forecast);
}

static int make_room(struct mal_forecast *forecast, size_t count)
{
	struct past *ranks;

	if (count == forecast->count)
		return 0;
	ranks = realloc(forecast->ranks, count * sizeof(*ranks));
	if (!ranks)
		return -1;
	memset(ranks, 0, count * sizeof(*ranks));
	forecast->ranks = ranks;
	forecast->count = count;
	return 0;
}

static double part(double past, double now, double keep)
{
	return keep * past + (1 - keep) * now;
}

static struct mal_load mix(const struct mal_load *past, const struct mal_load *now, double keep)
{
	return (struct mal_load){part(past->work, now->work, keep),
				 part(past->serial, now->serial, keep)};
}

static void expect(struct past *past, const struct mal_load *now, double smooth, bool jumped)
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

int mal_forecast_learn(struct mal_forecast *forecast, const struct mal_view *view)
{
	double whole = mal_forecast_whole(view), missed;
	struct mal_load now[MAL_MAX_RANKS];
	bool jumped;

	if (view->rank_count > MAL_MAX_RANKS || make_room(forecast, view->rank_count) < 0 ||
	    mal_scaling_learn(forecast->scaling, view) < 0)
		return -1;
	if (whole <= 0)
		return 0;
	/* Take parts of the whole, so that windows made longer by imbalance weigh the same. */
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		struct mal_load load =
			mal_scaling_load(forecast->scaling, rank, &view->samples[rank]);

		now[rank] = (struct mal_load){load.work / whole, load.serial / whole};
	}
	missed = find_miss(forecast, now);
	jumped = missed > JUMP_MIN + JUMP * forecast->error;
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (view->samples[rank].running)
			expect(&forecast->ranks[rank], &now[rank], forecast->smooth, jumped);
	forecast->error = part(forecast->error, missed, 1 - FORGET);
	return 1;
}

void mal_forecast_get(const struct mal_forecast *forecast, enum mal_forecast_kind kind,
		      struct mal_load *loads)
{
	for (size_t rank = 0; rank < forecast->count; rank++)
		loads[rank] = forecast->ranks[rank].expected[kind];
}

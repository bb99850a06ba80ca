/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* forecast.c: last value, moving average and trend, and which of them to believe. */
#include "policies/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAST, AVERAGE, TREND, KINDS };

/* How fast old errors are forgotten. */
#define FORGET 0.3
/* The average is steadier and the trend wilder than the last value: they must be that much better, or may be worse. */
static const double handicap[KINDS] = {[LAST] = 1.0, [AVERAGE] = 1.0, [TREND] = 1.25};

struct past {
	struct mal_load expected[KINDS];
	bool known;
};

struct mal_forecast {
	double smooth;
	double error[KINDS]; /* moving average of the relative error */
	int best;
	size_t count;
	struct past *ranks;
};

struct mal_forecast *mal_forecast_create(double smooth)
{
	struct mal_forecast *forecast = calloc(1, sizeof(*forecast));

	if (forecast)
		forecast->smooth = smooth;
	return forecast;
}

void mal_forecast_destroy(struct mal_forecast *forecast)
{
	if (!forecast)
		return;
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

static double above_zero(double value)
{
	return value > 0 ? value : 0;
}

/* LAST holds what was measured before. */
static void expect(struct past *past, const struct mal_load *now, double smooth)
{
	struct mal_load before = past->known ? past->expected[LAST] : *now;
	struct mal_load *average = &past->expected[AVERAGE];

	past->expected[TREND].work = above_zero(2 * now->work - before.work);
	past->expected[TREND].serial = above_zero(2 * now->serial - before.serial);
	average->work = part(average->work, now->work, past->known ? smooth : 0);
	average->serial = part(average->serial, now->serial, past->known ? smooth : 0);
	past->expected[LAST] = *now;
	past->known = true;
}

static void choose(struct mal_forecast *forecast)
{
	forecast->best = AVERAGE;
	for (int kind = 0; kind < KINDS; kind++)
		if (forecast->error[kind] * handicap[kind] < forecast->error[forecast->best] * handicap[forecast->best])
			forecast->best = kind;
}

int mal_forecast_learn(struct mal_forecast *forecast, const struct mal_view *view)
{
	double missed[KINDS] = {0}, sum = 0;

	if (make_room(forecast, view->rank_count) < 0)
		return -1;
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		const struct mal_sample *sample = &view->samples[rank];
		struct past *past = &forecast->ranks[rank];
		struct mal_load now;

		if (!sample->running || sample->elapsed_s <= 0)
			continue;
		now = (struct mal_load){sample->work_s / sample->elapsed_s, sample->serial_s / sample->elapsed_s};
		if (past->known) {
			for (int kind = 0; kind < KINDS; kind++)
				missed[kind] += fabs(past->expected[kind].work - now.work);
			sum += now.work;
		}
		expect(past, &now, forecast->smooth);
	}
	if (sum > 0)
		for (int kind = 0; kind < KINDS; kind++)
			forecast->error[kind] = part(forecast->error[kind], missed[kind] / sum, 1 - FORGET);
	choose(forecast);
	return 0;
}

struct mal_load mal_forecast_of(const struct mal_forecast *forecast, unsigned int rank)
{
	return forecast->ranks[rank].expected[forecast->best];
}

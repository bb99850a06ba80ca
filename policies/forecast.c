/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* forecast.c: last value, moving average and trend, and which of them to believe. */
#include "policies/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAST, AVERAGE, TREND, KINDS };

/* How fast old errors are forgotten. */
#define FORGET 0.3
/* A miss this many times larger than they were, and than this, is a jump: the past no longer counts. */
#define JUMP 4.0
#define JUMP_LEAST 0.05
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

/* What was measured, as parts of all work: windows that took longer for being unbalanced count no less. */
static double measure(const struct mal_view *view, struct mal_load *now)
{
	double sum = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		const struct mal_sample *sample = &view->samples[rank];

		now[rank] =
			(struct mal_load){sample->running ? sample->work_s : 0, sample->running ? sample->serial_s : 0};
		sum += now[rank].work + now[rank].serial;
	}
	for (unsigned int rank = 0; sum > 0 && rank < view->rank_count; rank++) {
		now[rank].work /= sum;
		now[rank].serial /= sum;
	}
	return sum;
}

/* The part of the work that each forecast had with a wrong rank. */
static void find_misses(const struct mal_forecast *forecast, const struct mal_load *now, double *missed)
{
	for (size_t rank = 0; rank < forecast->count; rank++)
		for (int kind = 0; kind < KINDS && forecast->ranks[rank].known; kind++)
			missed[kind] += fabs(forecast->ranks[rank].expected[kind].work - now[rank].work);
}

int mal_forecast_learn(struct mal_forecast *forecast, const struct mal_view *view)
{
	struct mal_load now[view->rank_count];
	double missed[KINDS] = {0};
	bool jumped;

	if (make_room(forecast, view->rank_count) < 0)
		return -1;
	if (measure(view, now) <= 0)
		return 0;
	find_misses(forecast, now, missed);
	jumped = missed[AVERAGE] > JUMP_LEAST + JUMP * forecast->error[AVERAGE];
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (view->samples[rank].running)
			expect(&forecast->ranks[rank], &now[rank], jumped ? 0 : forecast->smooth);
	for (int kind = 0; kind < KINDS; kind++)
		forecast->error[kind] = part(forecast->error[kind], missed[kind], 1 - FORGET);
	choose(forecast);
	return 0;
}

struct mal_load mal_forecast_of(const struct mal_forecast *forecast, unsigned int rank)
{
	return forecast->ranks[rank].expected[forecast->best];
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * forecast.h: the load that each rank will have in the next window, from those that it had.
 *
 * Four simple forecasts run side by side. Which one is best is for the caller to find out: a policy compares what it
 * would have done by each of them with what came.
 */
#ifndef MAL_POLICIES_FORECAST_H
#define MAL_POLICIES_FORECAST_H

#include "policies/policy.h"
#include "policies/scaling.h"

enum mal_forecast_kind {
	MAL_FORECAST_AVERAGE, /* moving average; starts anew after a jump that is far out of the usual */
	MAL_FORECAST_LAST,    /* the last value */
	MAL_FORECAST_TREND,   /* the last value, and as much again as it changed */
	MAL_FORECAST_SLOW,    /* average over a long past */
	MAL_FORECAST_KINDS,
};

struct mal_forecast;

/* SMOOTH: weight of the past in the moving average, 0 to 1. NULL: out of memory. */
struct mal_forecast *mal_forecast_create(double smooth);

/* NULL-safe. */
void mal_forecast_destroy(struct mal_forecast *forecast);

/* Learns a window's samples. Returns 1, 0 if there was no load in it, or -1: out of memory. */
int mal_forecast_learn(struct mal_forecast *forecast, const struct mal_view *view);

/*
 * What RANK is expected to need in the next window, by KIND, in parts of what all ranks did together; valid after a successful learn,
 * for its ranks.
 */
struct mal_load mal_forecast_of(const struct mal_forecast *forecast, enum mal_forecast_kind kind, unsigned int rank);

/* Core seconds of all ranks in the window: loads are parts of that. */
double mal_forecast_whole(const struct mal_view *view);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * forecast.h: the load that each rank will have in the next window, from those that it had.
 *
 * Three simple forecasts run side by side: the last value, a moving average, and the trend (the last value and as much
 * again as it changed). The one that erred least so far is believed: the average where loads are noise about a mean, the last
 * value where they jump, the trend where they drift. After a jump that is far out of the usual the average starts anew.
 */
#ifndef MAL_POLICIES_FORECAST_H
#define MAL_POLICIES_FORECAST_H

#include "policies/policy.h"

struct mal_load {
	double work;   /* in parallel regions, as part of what all ranks do together */
	double serial; /* of the primary thread alone, likewise */
};

struct mal_forecast;

/* SMOOTH: weight of the past in the moving average, 0 to 1. NULL: out of memory. */
struct mal_forecast *mal_forecast_create(double smooth);

/* NULL-safe. */
void mal_forecast_destroy(struct mal_forecast *forecast);

/* Learns a window's samples. Returns 0, or -1: out of memory. */
int mal_forecast_learn(struct mal_forecast *forecast, const struct mal_view *view);

/* What RANK is expected to need in the next window; valid after a successful learn, for its ranks. */
struct mal_load mal_forecast_of(const struct mal_forecast *forecast, unsigned int rank);

#endif

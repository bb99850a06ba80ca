/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * forecast.h: forecast each rank's load in the next window from its past loads.
 *
 * Four simple forecasts run side by side. The caller finds out which one is best: a policy compares
 * what it would have done by each of them with what came.
 */
#ifndef MAL_POLICIES_MODEL_FORECAST_H
#define MAL_POLICIES_MODEL_FORECAST_H

#include "policies/interface/policy.h"
#include "policies/model/scaling.h"

enum mal_forecast_kind {
	MAL_FORECAST_AVERAGE, /* moving average; starts anew after an unusual jump */
	MAL_FORECAST_LAST,    /* the last value */
	MAL_FORECAST_TREND,   /* the last value plus its last change */
	MAL_FORECAST_SLOW,    /* average over a long past */
	MAL_FORECAST_KINDS,
};

/* All 0 at first, but SMOOTH. */
struct mal_forecast {
	double smooth; /* weight of the past in the moving average, 0 to 1 */
	struct mal_scaling scaling;
	double error; /* moving average of the part of the work expected at a wrong rank */
	size_t count;
	struct mal_past {
		struct mal_load expected[MAL_FORECAST_KINDS];
		bool known;
	} ranks[MAL_MAX_RANKS];
};

/* Learn a window's samples. Returns false if the window had no load. */
bool mal_forecast_learn(struct mal_forecast *forecast, const struct mal_view *view);

/*
 * Fill LOADS, by rank, with what ranks will need in the next window by KIND, as parts of the work
 * of all ranks. Valid after a successful learn, for its ranks.
 */
void mal_forecast_get(const struct mal_forecast *forecast, enum mal_forecast_kind kind,
		      struct mal_load *loads);

/* Returns the core seconds of all ranks in the window; loads are parts of it. */
double mal_forecast_whole(const struct mal_view *view);

#endif

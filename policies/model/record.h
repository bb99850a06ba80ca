/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record.h: the record of forecasts: what following each of them would have cost so far.
 *
 * All forecasts are judged in each window, whichever is followed ("following the leader" with full
 * information: Littlestone, Warmuth: The weighted majority algorithm, 1994). So is staying at home:
 * where nobody can tell the next load, no forecast has a better record than that.
 */
#pragma once

#include <stddef.h>

#include "policies/model/forecast.h"

/* Staying at home stands beside the forecasts. */
#define MAL_RECORD_HOME MAL_FORECAST_KINDS
#define MAL_RECORDS (MAL_FORECAST_KINDS + 1)

struct mal_record {
	unsigned int judged;		   /* windows */
	double cost[MAL_RECORDS];	   /* longest rank over an even share, moving average */
	double spread[MAL_FORECAST_KINDS]; /* mean square of what home costs more, from its mean */
	unsigned int best;
	/* CPUs by rank, as each wanted for this window, and for the one before. */
	unsigned int count[MAL_RECORDS][MAL_MAX_RANKS], older[MAL_RECORDS][MAL_MAX_RANKS];
};

/* Begin with HOME, CPUs by rank, for RANK_COUNT ranks. */
void mal_record_reset(struct mal_record *record, size_t rank_count, const unsigned int *home);

/*
 * Learn what was wanted for the last window, from the loads that came, LOADS. LATE: plans take
 * effect a window later than they should, so what was wanted then is judged now.
 */
void mal_record_judge(struct mal_record *record, const struct mal_view *view,
		      const struct mal_load *loads, unsigned int cpus, bool late);

/*
 * Work out what each forecast wants for the next window. Returns false if the CPUs cannot be shared
 * out.
 */
bool mal_record_want(struct mal_record *record, const struct mal_view *view,
		     const struct mal_forecast *forecast, unsigned int cpus);

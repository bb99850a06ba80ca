/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* apportion.h: find the numbers of CPUs that make the longest rank shortest. */
#ifndef MAL_POLICIES_MODEL_APPORTION_H
#define MAL_POLICIES_MODEL_APPORTION_H

#include "policies/model/forecast.h"

/* Returns the time of a rank with LOAD on CPUS CPUs, serial + work / CPUs, in units of LOAD. */
double mal_apportion_time(const struct mal_load *load, unsigned int cpus);

/* Returns the longest running rank's time with LOADS and COUNT, both by rank. */
double mal_apportion_longest(const struct mal_view *view, const struct mal_load *loads,
			     const unsigned int *count);

/*
 * Fill COUNT, by rank, with numbers that sum up to CPUS: at least one for each running rank, none
 * above sample->max. The longest rank's time is the shortest possible, because a rank's time only
 * falls with more CPUs. Returns false, with COUNT undefined, if there are too few CPUs, or no rank
 * can use the last ones. Takes time ranks x ranks, or ranks x CPUs where a maximum limits ranks.
 */
bool mal_apportion(const struct mal_view *view, const struct mal_load *loads, unsigned int cpus,
		   unsigned int *count);

#endif

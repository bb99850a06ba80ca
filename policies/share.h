/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* share.h: the numbers of CPUs that make the longest rank shortest. */
#ifndef MAL_POLICIES_SHARE_H
#define MAL_POLICIES_SHARE_H

#include "policies/forecast.h"

/* The time of a rank with LOAD on CPUS CPUs: serial + work / CPUs, in parts of the whole work. */
double mal_share_time(const struct mal_load *load, unsigned int cpus);

/*
 * Fill COUNT, by rank, with numbers that sum up to CPUS, one at least for each running rank, none above sample->most: the
 * longest rank's time is the shortest there can be, because a rank's time only falls with its CPUs. Returns false, with COUNT
 * undefined, if there are too few CPUs or nobody can use the last ones. Time ranks x ranks, or ranks x CPUs where most bounds.
 */
bool mal_share_out(const struct mal_view *view, const struct mal_load *loads, unsigned int cpus, unsigned int *count);

#endif

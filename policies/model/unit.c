/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* unit.c: what a program's progress is counted in. */
#include "policies/model/unit.h"

#include <math.h>

#include "policies/model/model.h"

/* Differences until a unit may change. */
#define LEAST 6u
/* The other unit must be so much steadier, in the mean square, where this one is not steady. */
#define STEADIER 4.0
#define STEADY 0.03
/* A new difference's weight. */
#define NEW 0.1
/* No unit is shorter. */
#define SHORTEST_S 1e-9

/*
 * The regions of all ranks; 0: not known. Those of one rank would be no measure: which one works
 * most may depend on what is tried.
 */
static double count_regions(const struct mal_view *view)
{
	double regions = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (view->samples[rank].running && view->samples[rank].region_s > 0)
			regions += mal_model_regions(&view->samples[rank]);
	return regions;
}

static double length_in(unsigned int kind, const struct mal_view *view)
{
	double elapsed_s = mal_model_elapsed(view->samples, view->rank_count);
	double length_s = kind ? elapsed_s / fmax(count_regions(view), 1)
			       : mal_model_phase(view->samples, view->rank_count);

	return fmax(length_s, SHORTEST_S);
}

bool mal_unit_learn(struct mal_unit *unit, const struct mal_view *view)
{
	unsigned int other = !unit->kind;
	bool changes = unit->kind;

	if (count_regions(view) <= 0) {
		*unit = (struct mal_unit){0};
		return changes;
	}
	for (unsigned int kind = 0; kind < MAL_UNITS; kind++) {
		double now = log(length_in(kind, view)), step = now - unit->last[kind];
		double weight = fmax(NEW, 1.0 / (1 + unit->windows));

		unit->last[kind] = now;
		if (unit->follows)
			unit->noise[kind] += weight * (step * step - unit->noise[kind]);
	}
	unit->windows += unit->follows;
	unit->follows = true;
	if (unit->windows < LEAST || unit->noise[unit->kind] < STEADY * STEADY ||
	    STEADIER * unit->noise[other] > unit->noise[unit->kind])
		return false;
	unit->kind = other;
	return true;
}

void mal_unit_pause(struct mal_unit *unit)
{
	unit->follows = false;
}

double mal_unit_length(const struct mal_unit *unit, const struct mal_view *view)
{
	return length_in(unit->kind, view);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit.c: what a program's progress is counted in.
 *
 * Invariant: progress is counted in what is steady (t/unit/test_model.c:
 * progress_is_counted_in_what_is_steady).
 */
#include "policies/model/unit.h"

#include <math.h>
#include <string.h>

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
		if (view->samples[rank].running)
			regions += mal_model_regions(&view->samples[rank]);
	return regions;
}

/* The window can be compared with the last one: how far do the lengths NOW differ from its? */
static void learn_noise(struct mal_unit *unit, const double *now)
{
	double weight = fmax(NEW, 1.0 / (1 + unit->windows));

	for (unsigned int kind = 0; kind < MAL_UNITS; kind++) {
		double step = log(now[kind] / unit->last[kind]);

		unit->noise[kind] += weight * (step * step - unit->noise[kind]);
	}
	unit->windows++;
}

static bool is_other_steadier(const struct mal_unit *unit)
{
	double noise = unit->noise[unit->kind];

	return unit->windows >= LEAST && noise >= STEADY * STEADY &&
	       STEADIER * unit->noise[!unit->kind] <= noise;
}

bool mal_unit_learn(struct mal_unit *unit, const struct mal_view *view, bool comparable)
{
	double elapsed_s = mal_model_elapsed(view->samples, view->rank_count);
	double phase_s = mal_model_phase(view->samples, view->rank_count);
	double regions = count_regions(view);
	double now[MAL_UNITS] = {fmax(phase_s, SHORTEST_S),
				 fmax(elapsed_s / fmax(regions, 1), SHORTEST_S)};
	unsigned int before = unit->kind;

	if (comparable && regions <= 0)
		*unit = (struct mal_unit){0};
	else if (comparable && unit->follows)
		learn_noise(unit, now);
	memcpy(unit->last, now, sizeof(now));
	unit->follows = comparable && regions > 0;
	if (unit->follows && is_other_steadier(unit))
		unit->kind = !unit->kind;
	return unit->kind != before;
}

double mal_unit_length(const struct mal_unit *unit)
{
	return unit->last[unit->kind];
}

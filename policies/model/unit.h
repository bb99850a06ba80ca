/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit.h: what a program's progress is counted in, so that windows can be compared: phases, or the
 * regions of all ranks.
 *
 * A phase ends with a collective call. Some programs test in a loop whether all ranks are done, and
 * make six such calls in one time step and fifteen in the next; their regions go on evenly. The
 * unit is the one whose length differs less from window to window.
 */
#pragma once

#include <stdbool.h>

#include "policies/interface/policy.h"

#define MAL_UNITS 2u

/* All 0 at first. */
struct mal_unit {
	unsigned int kind;	 /* 0: phases, 1: regions */
	unsigned int windows;	 /* learnt */
	double last[MAL_UNITS];	 /* seconds of each in the last window, above 0 */
	double noise[MAL_UNITS]; /* mean square of the differences of their logarithms */
	bool follows;		 /* the last window can be compared with the next one */
};

/*
 * Learn a window. COMPARABLE: nothing was tried in it and no CPU moved. Returns whether the unit is
 * another one from this window on: what was measured before cannot be compared with it.
 */
bool mal_unit_learn(struct mal_unit *unit, const struct mal_view *view, bool comparable);

/* Returns the seconds of a unit in the last window learnt, above 0. */
double mal_unit_length(const struct mal_unit *unit);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* auto.h: the policy auto, for policies that are a layer over it. */
#pragma once

#include "policies/interface/policy.h"

/* Its parameters come first in the layer's own, so that create takes the layer's values. */
enum mal_auto_param {
	MAL_AUTO_GAIN,
	MAL_AUTO_SMOOTH,
	MAL_AUTO_LEND,
	MAL_AUTO_GROW,
	MAL_AUTO_MOVE,
	MAL_AUTO_PARAMS
};

/* All but the gain, which a layer may use for more. */
#define MAL_AUTO_OTHER_PARAMS \
	[MAL_AUTO_SMOOTH] = \
		{"smooth", "weight of the past windows in the average load, 0 to 0.95", \
		 0.5,	   0, \
		 0.95,	   NULL}, \
	[MAL_AUTO_LEND] = {"lend", "lend CPUs while waiting in MPI", 1, 0, 1, NULL}, \
	[MAL_AUTO_GROW] = {"grow", "let long regions grow while they run", 1, 0, 1, NULL}, \
	[MAL_AUTO_MOVE] = {"move", "move CPUs at phase boundaries", 1, 0, 1, NULL}

/*
 * For how many windows nothing has moved, in a step that STATE decides about; 0 while something is
 * tried or is about to move.
 */
unsigned int mal_auto_rest(const void *state);

/* Ranks can use at most MAX CPUs, by rank; 0: any number. Not while something is tried. */
void mal_auto_limit(void *state, const unsigned int *max, unsigned int rank_count);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * window.h: what is known of one window, read once when its round ends. Ranks go on meanwhile, and
 * CPUs change hands: all who judge a window read this, and not the segment again.
 */
#ifndef MAL_CONTROLLER_STATE_WINDOW_H
#define MAL_CONTROLLER_STATE_WINDOW_H

#include "libmalleable/controller/state/controller.h"
#include "policies/interface/policy.h"

struct mal_window {
	double at_s;			  /* since the step started */
	double elapsed_s;		  /* of the rank with the longest */
	unsigned int owner[MAL_MAX_CPUS]; /* by CPU of the step; no rank's number: nobody */
	uint16_t counts[MAL_MAX_RANKS];	  /* of these, by rank; samples have the same */
	struct mal_sample samples[MAL_MAX_RANKS];
};

#endif

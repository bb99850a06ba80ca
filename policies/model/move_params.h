/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* move_params.h: the parameters of a policy that moves CPUs by forecasts. */
#ifndef MAL_POLICIES_MODEL_MOVE_PARAMS_H
#define MAL_POLICIES_MODEL_MOVE_PARAMS_H

#include "policies/interface/policy.h"

enum {
	MAL_OPTION_GAIN,
	MAL_OPTION_SMOOTH,
	MAL_OPTION_LEND,
	MAL_OPTION_GROW,
	MAL_OPTION_MOVE,
	MAL_OPTIONS,
};

/* Their table for struct mal_policy; LEAST: what gain is if the user says nothing, in percent. */
#define MAL_OPTIONS_TABLE(LEAST) \
	{ \
		[MAL_OPTION_GAIN] = {"gain", \
				     "least forecast gain, in percent, for which CPUs are moved", \
				     (LEAST), 0, 100, NULL}, \
		[MAL_OPTION_SMOOTH] = {"smooth", \
				       "weight of the past windows in the average load, 0 to " \
				       "0.95", \
				       0.5, 0, 0.95, NULL}, \
		[MAL_OPTION_LEND] = {"lend", "lend CPUs while waiting in MPI", 1, 0, 1, NULL}, \
		[MAL_OPTION_GROW] = {"grow", "let long regions grow while they run", 1, 0, 1, \
				     NULL}, \
		[MAL_OPTION_MOVE] = {"move", "move CPUs at phase boundaries", 1, 0, 1, NULL}, \
	}

struct mal_options {
	double gain; /* as a part */
	double smooth;
	bool lend, grow, move;
};

/* VALUES: as create() of a policy with that table gets them. */
struct mal_options mal_options_read(const double *values);

/* Say in PLAN whether ranks lend and regions grow: LEND, if the user allows it. */
void mal_options_lend(const struct mal_options *options, bool lend, struct mal_plan *plan);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* move_params.c: the parameters of a policy that moves CPUs by forecasts. */
#include "policies/model/move_params.h"

struct mal_options mal_options_read(const double *values)
{
	return (struct mal_options){.gain = values[MAL_OPTION_GAIN] / 100,
				    .smooth = values[MAL_OPTION_SMOOTH],
				    .lend = values[MAL_OPTION_LEND] != 0,
				    .grow = values[MAL_OPTION_GROW] != 0,
				    .move = values[MAL_OPTION_MOVE] != 0};
}

void mal_options_lend(const struct mal_options *options, bool lend, struct mal_plan *plan)
{
	plan->lend = options->lend && lend;
	plan->grow = plan->lend && options->grow;
}

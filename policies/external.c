/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* external.c: move nothing of its own accord; obey orders from outside, as DROM does. */
#include <stdlib.h>

#include "policies/interface/builtin.h"

static const struct mal_param params[] = {
	{"lend", "lend CPUs while waiting in MPI, whatever is set", 0, 0, 1, NULL},
};

static void *create(const double *values)
{
	bool *lend = malloc(sizeof(*lend));

	if (lend)
		*lend = values[0] != 0;
	return lend;
}

static int decide(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	const bool *lend = state;

	(void)view;
	plan->bind = true;
	plan->lend = plan->grow = *lend;
	return 0;
}

const struct mal_policy mal_policy_external = {
	.abi = MAL_POLICY_ABI,
	.name = "external",
	.summary = "obey malleable set, and move nothing else",
	.params = params,
	.param_count = sizeof(params) / sizeof(params[0]),
	.create = create,
	.decide = decide,
	.destroy = free,
};

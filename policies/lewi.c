/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lewi.c: lend when idle (Garcia, Corbalan, Labarta: LeWI, ICPP 2009).
 *
 * Invariant: a waiting rank's CPUs are lent, and taken back (t/t3001-balance.t).
 *
 * A rank that waits in MPI lends its CPUs. Other ranks borrow them when their next parallel region
 * starts. The owner takes them back when its call returns.
 */
#include <stdlib.h>

#include "policies/interface/builtin.h"

enum { PARAM_KEEP, PARAM_CALLS, PARAM_AFFINITY, PARAM_MAX };

static const struct mal_param params[] = {
	[PARAM_KEEP] = {"keep", "do not lend the CPU of the thread that waits", 0, 0, 1, NULL},
	[PARAM_CALLS] = {"calls", "MPI calls in which a rank lends", 0, 0, 1, "all|collective"},
	[PARAM_AFFINITY] = {"affinity", "CPUs that are borrowed, and in which order",
			    MAL_NEAR_FIRST, MAL_NEAR_FIRST, MAL_NEAR_ONLY,
			    "nearby-first|any|nearby-only"},
	[PARAM_MAX] = {"most",
		       "CPUs that a rank uses at most, with those it borrows; 0: any number", 0, 0,
		       65535, NULL},
};

static void *create(const double *values)
{
	struct mal_lending *lending = calloc(1, sizeof(*lending));

	if (!lending)
		return NULL;
	lending->keep_one = values[PARAM_KEEP] != 0;
	lending->collectives_only = values[PARAM_CALLS] != 0;
	lending->near = (enum mal_nearness)values[PARAM_AFFINITY];
	lending->max = (unsigned int)values[PARAM_MAX];
	return lending;
}

static int decide(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	const struct mal_lending *lending = state;

	(void)view;
	plan->bind = true;
	plan->lend = true;
	plan->lending = *lending;
	return 0;
}

const struct mal_policy mal_policy_lewi = {
	.abi = MAL_POLICY_ABI,
	.name = "lewi",
	.summary = "lend CPUs while waiting in MPI, borrow at region start, as LeWI does",
	.params = params,
	.param_count = sizeof(params) / sizeof(params[0]),
	.create = create,
	.decide = decide,
	.destroy = free,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* half.c: a loadable policy in which every rank uses half of its CPUs. */
#include <malleable/policy.h>
#include <stdlib.h>

static int decide(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	(void)state;
	plan->bind = true;
	for (unsigned int rank = 0; view->samples && plan->use && rank < view->rank_count; rank++)
		plan->use[rank] = view->samples[rank].cpus / 2;
	return 0;
}

const struct mal_policy malleable_policy = {
	.abi = MAL_POLICY_ABI,
	.name = "half",
	.summary = "use half of the CPUs",
	.decide = decide,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe.c: measure and report, change nothing.
 *
 * Invariant: nothing changes (t/t3001-balance.t).
 */
#include "policies/interface/builtin.h"

static int decide(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	(void)state;
	(void)view;
	(void)plan;
	return 0;
}

const struct mal_policy mal_policy_observe = {
	.abi = MAL_POLICY_ABI,
	.name = "observe",
	.summary = "measure and report what could be gained, change nothing",
	.decide = decide,
};

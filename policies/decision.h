/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* decision.h: a policy is asked, its counts become CPUs, and the plan is checked: the same for controller, replay and tests. */
#ifndef MAL_POLICIES_DECISION_H
#define MAL_POLICIES_DECISION_H

#include "policies/policy.h"

enum mal_decision {
	MAL_DECISION_NONE,  /* the policy has no opinion: all stays as it is */
	MAL_DECISION_MADE,  /* the plan holds */
	MAL_DECISION_UNFIT, /* the plan is not fit to be carried out */
};

/*
 * Ask POLICY with its STATE about VIEW and fill PLAN, whose arrays are the caller's and get the present numbers and owners
 * first. Where the plan is unfit, *FLAW is a static text that says why.
 */
enum mal_decision mal_decide(const struct mal_policy *policy, void *state, const struct mal_view *view,
			     struct mal_plan *plan, const char **flaw);

/* How many of the CPUS CPUs each of RANK_COUNT ranks owns, going by OWNER, in COUNT. */
void mal_count_cpus(const unsigned int *owner, unsigned int cpus, unsigned int rank_count, unsigned int *count);

#endif

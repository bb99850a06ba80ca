/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * decision.h: ask a policy, turn its counts into CPUs, and check the plan; for all callers alike.
 */
#ifndef MAL_POLICIES_DECIDE_DECISION_H
#define MAL_POLICIES_DECIDE_DECISION_H

#include "policies/interface/policy.h"

enum mal_decision {
	MAL_DECISION_NONE,     /* the policy has no opinion: nothing changes */
	MAL_DECISION_MADE,     /* the plan holds */
	MAL_DECISION_REJECTED, /* the plan must not be carried out */
};

/*
 * Ask POLICY with its STATE about VIEW and fill PLAN. PLAN's arrays are the caller's; they start
 * with the present counts and owners. If the plan is unfit, *REJECTION is a static text that says
 * why, else NULL.
 */
enum mal_decision mal_decide(const struct mal_policy *policy, void *state,
			     const struct mal_view *view, struct mal_plan *plan,
			     const char **rejection);

/* Count in COUNT how many of the CPUS CPUs each of RANK_COUNT ranks owns, according to OWNER. */
void mal_count_cpus(const unsigned int *owner, unsigned int cpus, unsigned int rank_count,
		    unsigned int *count);

#endif

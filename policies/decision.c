/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* decision.c: a policy is asked, its counts become CPUs, and the plan is checked. */
#include "policies/decision.h"

#include <string.h>

#include "policies/check.h"
#include "policies/mapping.h"

void mal_count_cpus(const unsigned int *owner, unsigned int cpus, unsigned int rank_count, unsigned int *count)
{
	memset(count, 0, rank_count * sizeof(*count));
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		if (owner[cpu] < rank_count)
			count[owner[cpu]]++;
}

enum mal_decision mal_decide(const struct mal_policy *policy, void *state, const struct mal_view *view,
			     struct mal_plan *plan, const char **flaw)
{
	unsigned int cpus = view->topology->cpu_count;

	/* Before there are samples nobody owns any. */
	mal_count_cpus(view->owner, view->samples ? cpus : 0, view->rank_count, plan->count);
	if (plan->use)
		memset(plan->use, 0, view->rank_count * sizeof(plan->use[0]));
	memcpy(plan->owner, view->owner, cpus * sizeof(plan->owner[0]));
	*flaw = NULL;
	if (policy->decide(state, view, plan) < 0)
		return MAL_DECISION_NONE;
	if (plan->broken) {
		*flaw = plan->broken;
		return MAL_DECISION_UNFIT;
	}
	if (!view->samples) {
		plan->move = false;
		return MAL_DECISION_MADE;
	}
	if (plan->move && policy->map)
		policy->map(state, view, plan);
	else if (plan->move)
		mal_map(view, plan);
	*flaw = mal_plan_flaw(view, plan);
	return *flaw ? MAL_DECISION_UNFIT : MAL_DECISION_MADE;
}

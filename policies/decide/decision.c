/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* decision.c: ask a policy, turn its counts into CPUs, and check the plan. */
#include "policies/decide/decision.h"

#include <string.h>

#include "policies/interface/check.h"
#include "policies/interface/limits.h"
#include "policies/mapping/mapping.h"

void mal_count_cpus(const unsigned int *owner, unsigned int cpus, unsigned int rank_count,
		    unsigned int *count)
{
	memset(count, 0, rank_count * sizeof(*count));
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		if (owner[cpu] < rank_count)
			count[owner[cpu]]++;
}

/* A loadable policy may return any number: map only counts that the node can have. */
static bool counts_are_possible(const struct mal_view *view, const struct mal_plan *plan)
{
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (plan->count[rank] > view->topology->cpu_count)
			return false;
	return true;
}

enum mal_decision mal_decide(const struct mal_policy *policy, void *state,
			     const struct mal_view *view, struct mal_plan *plan,
			     const char **rejection)
{
	unsigned int cpus = view->topology->cpu_count;

	*rejection = NULL;
	if (view->rank_count > MAL_MAX_RANKS || cpus > MAL_MAX_CPUS)
		return MAL_DECISION_NONE;
	/* Before the first samples no rank owns CPUs. */
	mal_count_cpus(view->owner, view->samples ? cpus : 0, view->rank_count, plan->count);
	if (plan->use)
		memset(plan->use, 0, view->rank_count * sizeof(plan->use[0]));
	memcpy(plan->owner, view->owner, cpus * sizeof(plan->owner[0]));
	if (policy->decide(state, view, plan) < 0)
		return MAL_DECISION_NONE;
	if (plan->broken) {
		*rejection = plan->broken;
		return MAL_DECISION_REJECTED;
	}
	if (!view->samples) {
		plan->move = false;
		return MAL_DECISION_MADE;
	}
	if (plan->move && !counts_are_possible(view, plan)) {
		*rejection = "its CPUs are not as many as its counts say";
		return MAL_DECISION_REJECTED;
	}
	if (plan->move && policy->map)
		policy->map(state, view, plan);
	else if (plan->move)
		mal_map(view, plan);
	*rejection = mal_plan_check(view, plan);
	return *rejection ? MAL_DECISION_REJECTED : MAL_DECISION_MADE;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plan_check.c: decide whether a plan may be carried out, whoever made it.
 *
 * Invariant: a plan that breaks a rule is carried out by nobody (t/unit/test_decision.c:
 * each_flaw_has_its_line).
 */
#include "policies/interface/plan_check.h"

#include <string.h>

#include "policies/interface/limits.h"

const char *mal_plan_check(const struct mal_view *view, const struct mal_plan *plan)
{
	unsigned int have[MAL_MAX_RANKS];

	if (!plan->move)
		return NULL;
	if (view->rank_count > MAL_MAX_RANKS)
		return "it has more ranks than any step";
	if (!plan->bind)
		return "it moves CPUs but forbids to bind threads";
	memset(have, 0, view->rank_count * sizeof(have[0]));
	for (unsigned int cpu = 0; cpu < view->topology->cpu_count; cpu++) {
		unsigned int owner = plan->owner[cpu];

		if (owner >= view->rank_count) {
			if (owner != view->owner[cpu])
				return "it gives a CPU to a rank that does not exist";
			continue;
		}
		if (!view->samples[owner].running && owner != view->owner[cpu])
			return "it gives a CPU to a rank that does not run";
		have[owner]++;
	}
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (view->samples[rank].running && !have[rank])
			return "it leaves a rank without a CPU";
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		const struct mal_sample *sample = &view->samples[rank];

		if (sample->running && have[rank] != plan->count[rank])
			return "its CPUs do not match its counts";
		if (sample->max && have[rank] > sample->max && have[rank] > sample->cpus)
			return "it gives a rank more CPUs than it can use";
	}
	return NULL;
}

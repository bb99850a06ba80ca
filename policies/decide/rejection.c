/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rejection.c: tell a policy's author what was wrong with a plan. */
#include "policies/decide/rejection.h"

#include <stdio.h>

/* As many counts as are printed. */
#define SHOWN 16

/* The first rank that gets none, or more than it can use; RANK_COUNT: no such rank. */
static unsigned int find_wrong(const struct mal_view *view, const struct mal_plan *plan)
{
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		const struct mal_sample *sample = &view->samples[rank];
		unsigned int count = plan->count[rank];

		if (sample->running &&
		    (!count || (sample->max && count > sample->max && count > sample->cpus)))
			return rank;
	}
	return view->rank_count;
}

const char *mal_rejection_describe(const char *why, const struct mal_view *view,
				   const struct mal_plan *plan, unsigned int window,
				   char text[MAL_REJECTION_TEXT])
{
	unsigned int wrong;
	int used = snprintf(text, MAL_REJECTION_TEXT, "%.160s", why);

	/* Of what crashed there is no plan. */
	if (plan->broken || !plan->move || !view->samples)
		return text;
	wrong = find_wrong(view, plan);
	used += snprintf(text + used, MAL_REJECTION_TEXT - (size_t)used, " (window %u: counts",
			 window);
	for (unsigned int rank = 0; rank < view->rank_count && rank < SHOWN; rank++)
		used += snprintf(text + used, MAL_REJECTION_TEXT - (size_t)used, " %u",
				 plan->count[rank] < 100000 ? plan->count[rank] : 99999);
	used += snprintf(text + used, MAL_REJECTION_TEXT - (size_t)used, "%s of %u CPUs",
			 view->rank_count > SHOWN ? " ..." : "", view->topology->cpu_count);
	if (wrong < view->rank_count)
		used += snprintf(text + used, MAL_REJECTION_TEXT - (size_t)used, ", rank %u has %u",
				 wrong, plan->count[wrong]);
	snprintf(text + used, MAL_REJECTION_TEXT - (size_t)used, ")");
	return text;
}

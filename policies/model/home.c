/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * home.c: the CPUs that ranks had when the step began.
 *
 * Invariant: home is left with its very CPUs (t/unit/test_model.c: home_is_left_with_its_cpus).
 */
#include "policies/model/home.h"

#include <string.h>

unsigned int mal_home_count(const struct mal_view *view, unsigned int *now)
{
	unsigned int cpus = 0;

	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		now[rank] = view->samples[rank].cpus;
		cpus += view->samples[rank].running ? now[rank] : 0;
	}
	return cpus;
}

bool mal_home_is_of(const struct mal_home *home, const struct mal_view *view, unsigned int cpus)
{
	if (home->rank_count != view->rank_count || home->cpus != cpus ||
	    home->cpu_count != view->topology->cpu_count)
		return false;
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		const struct mal_sample *sample = &view->samples[rank];

		if (sample->running != home->running[rank] ||
		    (sample->max && home->count[rank] > sample->max))
			return false;
	}
	/* CPUs that nobody had, or that are gone, cannot be given back. */
	for (unsigned int cpu = 0; cpu < home->cpu_count; cpu++)
		if ((view->owner[cpu] < view->rank_count) != (home->owner[cpu] < view->rank_count))
			return false;
	return true;
}

void mal_home_settle(struct mal_home *home, const struct mal_view *view, unsigned int cpus)
{
	home->rank_count = view->rank_count;
	home->cpu_count = view->topology->cpu_count;
	home->cpus = cpus;
	memcpy(home->owner, view->owner, home->cpu_count * sizeof(*home->owner));
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		home->count[rank] = view->samples[rank].cpus;
		home->running[rank] = view->samples[rank].running;
	}
}

bool mal_home_is_here(const struct mal_home *home, const struct mal_view *view)
{
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		if (view->samples[rank].cpus != home->count[rank])
			return false;
	return memcmp(home->owner, view->owner, home->cpu_count * sizeof(home->owner[0])) == 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inch.c: a loadable policy (doc/policies.md): in each window one CPU moves from the rank that
 * waited longest in MPI to the one that waited least, if their waits differ by enough.
 *
 *   cc -shared -fPIC $(pkg-config --cflags malleable) -o inch.so inch.c
 *   MALLEABLE_POLICIES=$PWD srun --balance=inch,threshold=10 ./app
 */
#include <malleable/policy.h>
#include <stdlib.h>

static const struct mal_param params[] = {
	{"threshold", "smallest difference of two ranks' waits, in percent of the window", 5, 0,
	 100, NULL},
};

static void *create(const double *values)
{
	double *threshold = malloc(sizeof(*threshold));

	if (threshold)
		*threshold = values[0] / 100;
	return threshold;
}

static int can_take(const struct mal_sample *sample)
{
	return sample->max == 0 || sample->cpus < sample->max;
}

static int decide(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	const double *threshold = state;
	const struct mal_sample *samples = view->samples;
	unsigned int giver = view->rank_count, taker = view->rank_count;

	plan->bind = true;
	plan->lend = true;
	if (!samples)
		return 0;
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		if (!samples[rank].running)
			continue;
		if (samples[rank].cpus > 1 &&
		    (giver == view->rank_count || samples[rank].mpi_s > samples[giver].mpi_s))
			giver = rank;
		if (can_take(&samples[rank]) &&
		    (taker == view->rank_count || samples[rank].mpi_s < samples[taker].mpi_s))
			taker = rank;
	}
	if (giver == view->rank_count || taker == view->rank_count || giver == taker)
		return 0;
	if (samples[giver].mpi_s - samples[taker].mpi_s <= *threshold * samples[giver].elapsed_s)
		return 0;
	plan->count[giver]--;
	plan->count[taker]++;
	plan->move = true;
	return 0;
}

const struct mal_policy malleable_policy = {
	.abi = MAL_POLICY_ABI,
	.name = "inch",
	.summary = "one CPU at a time to the rank that waits least (an example)",
	.params = params,
	.param_count = sizeof(params) / sizeof(params[0]),
	.create = create,
	.decide = decide,
	.destroy = free,
};

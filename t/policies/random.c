/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * random.c: a loadable policy that moves CPUs at random, to test programs.
 *
 * Any rank may have any number of CPUs after each window. A program that survives this survives
 * every other policy. It makes nothing faster.
 */
#include <stdint.h>
#include <stdlib.h>

#include "policies/interface/policy.h"

static const struct mal_param params[] = {
	{"seed", "start of the sequence of random numbers", 1, 0, 4294967295.0, NULL},
};

static void *create(const double *values)
{
	uint64_t *state = malloc(sizeof(*state));

	if (state)
		*state = (uint64_t)values[0];
	return state;
}

/*
 * Knuth's MMIX generator (The Art of Computer Programming, vol. 2, 3.3.4); its high bits are good.
 */
static unsigned int next(uint64_t *state, unsigned int below)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)((*state >> 33) % below);
}

/* Does the rank have all the CPUs that it can use? */
static bool is_full(const struct mal_sample *sample, unsigned int count)
{
	return !sample->running || (sample->max && count >= sample->max && count >= sample->cpus);
}

static int decide(void *opaque, const struct mal_view *view, struct mal_plan *plan)
{
	unsigned int running = 0, cpus = 0;

	plan->bind = plan->lend = plan->grow = true;
	if (!view->samples)
		return 0;
	for (unsigned int rank = 0; rank < view->rank_count; rank++) {
		/* Those of ranks that ended stay. */
		if (!view->samples[rank].running)
			continue;
		plan->count[rank] = 1;
		running++;
		cpus += view->samples[rank].cpus;
	}
	if (!running || cpus < running)
		return 0;
	for (unsigned int left = cpus - running; left;) {
		unsigned int rank = next(opaque, view->rank_count);

		if (is_full(&view->samples[rank], plan->count[rank]))
			continue;
		plan->count[rank]++;
		left--;
	}
	plan->move = true;
	return 0;
}

const struct mal_policy malleable_policy = {
	.abi = MAL_POLICY_ABI,
	.name = "random",
	.summary = "move CPUs at random, to test whether a program survives it",
	.params = params,
	.param_count = sizeof(params) / sizeof(params[0]),
	.create = create,
	.decide = decide,
	.destroy = free,
};

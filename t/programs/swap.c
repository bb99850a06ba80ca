/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * swap.c: a loadable policy for tests: after the third window each rank gets the CPUs half a
 * machine further on.
 */
#include <malleable/policy.h>
#include <stdlib.h>

static void *create(const double *values)
{
	(void)values;
	return calloc(1, sizeof(int));
}

static int decide(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	int *windows = state;

	plan->bind = true;
	if (view->samples)
		plan->move = ++*windows == 3;
	return 0;
}

static void map(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	unsigned int cpus = view->topology->cpu_count;

	(void)state;
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		plan->owner[cpu] = view->owner[(cpu + cpus / 2) % cpus];
}

const struct mal_policy malleable_policy = {
	.abi = MAL_POLICY_ABI,
	.name = "swap",
	.summary = "for tests: ranks exchange all their CPUs, once",
	.create = create,
	.decide = decide,
	.map = map,
	.destroy = free,
};

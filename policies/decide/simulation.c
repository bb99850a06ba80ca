/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * simulation.c: replay a step as a policy would have run it.
 *
 * Invariant: a replay takes what the recorded step took (t/unit/test_simulation.c;
 * t/t3003-replay.t).
 */
#include "policies/decide/simulation.h"

#include <stdlib.h>
#include <string.h>

#include "policies/decide/decision.h"
#include "policies/decide/rejection.h"
#include "policies/interface/limits.h"
#include "policies/model/model.h"

/* A rank waits this long for each CPU that it gets: threads go there one after the other. */
#define MOVE_S 30e-6

struct mal_simulation {
	const struct mal_policy *policy;
	void *state;
	struct mal_topology topology;
	unsigned int rank_count;
	struct mal_plan plan;		   /* the last one: its rules hold */
	unsigned int owner[MAL_MAX_CPUS];  /* now */
	unsigned int count[MAL_MAX_RANKS]; /* now */
	unsigned int home[MAL_MAX_RANKS];  /* at first */
	unsigned int cpus;		   /* with an owner */
	unsigned int plan_owner[MAL_MAX_CPUS], plan_count[MAL_MAX_RANKS];
	struct mal_sample samples[MAL_MAX_RANKS];
	double mpi_s[MAL_MAX_RANKS];
	double moving_s; /* that the next window takes longer */
	struct mal_outcome outcome;
	char rejection[MAL_REJECTION_TEXT];
};

/* Ask the policy. Returns true if its plan moves CPUs. */
static bool ask(struct mal_simulation *simulation, const struct mal_sample *samples)
{
	struct mal_view view = {&simulation->topology, simulation->rank_count, samples,
				simulation->owner};
	struct mal_plan plan = {.count = simulation->plan.count, .owner = simulation->plan.owner};
	const char *rejection;

	if (simulation->outcome.rejection || !simulation->policy->decide)
		return false;
	switch (mal_decide(simulation->policy, simulation->state, &view, &plan, &rejection)) {
	case MAL_DECISION_NONE: return false;
	case MAL_DECISION_MADE: simulation->plan = plan; return plan.move;
	case MAL_DECISION_REJECTED: break;
	}
	simulation->outcome.rejection = mal_rejection_describe(
		rejection, &view, &plan, simulation->outcome.windows, simulation->rejection);
	simulation->plan.lend = simulation->plan.grow = false;
	return false;
}

struct mal_simulation *mal_simulation_create(const struct mal_policy *policy, const double *values,
					     const struct mal_topology *topology,
					     unsigned int rank_count, const unsigned int *owner)
{
	struct mal_simulation *simulation;

	if (rank_count > MAL_MAX_RANKS || topology->cpu_count > MAL_MAX_CPUS)
		return NULL;
	simulation = calloc(1, sizeof(*simulation));
	if (!simulation)
		return NULL;
	simulation->policy = policy;
	simulation->topology = *topology;
	simulation->outcome.policy = policy->name;
	simulation->rank_count = rank_count;
	simulation->plan.owner = simulation->plan_owner;
	simulation->plan.count = simulation->plan_count;
	if (policy->create && !(simulation->state = policy->create(values))) {
		free(simulation);
		return NULL;
	}
	memcpy(simulation->owner, owner, topology->cpu_count * sizeof(*owner));
	mal_count_cpus(simulation->owner, topology->cpu_count, rank_count, simulation->home);
	for (unsigned int rank = 0; rank < rank_count; rank++)
		simulation->cpus += simulation->home[rank];
	ask(simulation, NULL);
	return simulation;
}

void mal_simulation_destroy(struct mal_simulation *simulation)
{
	if (!simulation)
		return;
	if (simulation->policy->destroy)
		simulation->policy->destroy(simulation->state);
	free(simulation);
}

/* Carry out the plan. The rank that gets most CPUs makes the next window longer. */
static void move(struct mal_simulation *simulation)
{
	unsigned int gained[MAL_MAX_RANKS], max = 0;

	memset(gained, 0, simulation->rank_count * sizeof(gained[0]));
	for (unsigned int cpu = 0; cpu < simulation->topology.cpu_count; cpu++) {
		unsigned int owner = simulation->plan.owner[cpu];

		if (owner == simulation->owner[cpu])
			continue;
		simulation->owner[cpu] = owner;
		simulation->outcome.moves++;
		if (owner < simulation->rank_count && ++gained[owner] > max)
			max = gained[owner];
	}
	simulation->moving_s = max * MOVE_S;
}

double mal_simulation_window(struct mal_simulation *simulation, const struct mal_sample *samples)
{
	struct mal_usage usage = {simulation->count, simulation->plan.lend, simulation->plan.grow,
				  simulation->plan.lending};
	struct mal_usage off = {.count = simulation->home};
	struct mal_outcome *outcome = &simulation->outcome;
	double elapsed;

	mal_count_cpus(simulation->owner, simulation->topology.cpu_count, simulation->rank_count,
		       simulation->count);
	elapsed = mal_model_window(samples, simulation->rank_count, &usage, simulation->mpi_s) +
		  simulation->moving_s;
	simulation->moving_s = 0;
	outcome->windows++;
	outcome->elapsed_s += elapsed;
	outcome->ideal_s += mal_model_ideal(samples, simulation->rank_count, simulation->cpus);
	outcome->off_s += mal_model_window(samples, simulation->rank_count, &off, NULL);
	for (unsigned int rank = 0; rank < simulation->rank_count; rank++) {
		struct mal_sample *sample = &simulation->samples[rank];

		*sample = samples[rank];
		if (!sample->running)
			continue;
		sample->elapsed_s = elapsed;
		sample->mpi_s = simulation->mpi_s[rank];
		sample->cpus = simulation->count[rank];
	}
	outcome->lends = simulation->plan.lend;
	outcome->count = simulation->count;
	if (ask(simulation, simulation->samples))
		move(simulation);
	outcome->move_times = simulation->plan.move_times;
	outcome->lend_times = simulation->plan.lend_times;
	return elapsed;
}

const struct mal_outcome *mal_simulation_outcome(const struct mal_simulation *simulation)
{
	return &simulation->outcome;
}

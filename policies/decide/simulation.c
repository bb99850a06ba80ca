/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* simulation.c: replay a step as a policy would have run it. */
#include "policies/decide/simulation.h"

#include <stdlib.h>
#include <string.h>

#include "policies/decide/decision.h"
#include "policies/interface/attained.h"
#include "policies/interface/limits.h"
#include "policies/model/model.h"

/* A rank waits this long for each CPU that it gets: threads go there one after the other. */
#define MOVE_S 30e-6

struct mal_simulation {
	const struct mal_policy *policy;
	void *state;
	struct mal_topology topology;
	unsigned int rank_count;
	struct mal_plan plan; /* the last one: its rules hold */
	unsigned int *owner;  /* by CPU, now */
	unsigned int *count;  /* by rank, now */
	unsigned int *home;   /* by rank, at first */
	unsigned int cpus;    /* with an owner */
	struct mal_sample *samples;
	double *mpi_s;
	double moving_s; /* that the next window takes longer */
	struct mal_outcome outcome;
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
	simulation->outcome.rejection = rejection;
	simulation->plan.lend = simulation->plan.grow = false;
	return false;
}

struct mal_simulation *mal_simulation_create(const struct mal_policy *policy, const double *values,
					     const struct mal_topology *topology,
					     unsigned int rank_count, const unsigned int *owner)
{
	struct mal_simulation *simulation =
		rank_count > MAL_MAX_RANKS ? NULL : calloc(1, sizeof(*simulation));
	size_t cpus = topology->cpu_count;

	if (!simulation)
		return NULL;
	simulation->policy = policy;
	simulation->topology = *topology;
	simulation->outcome.policy = policy->name;
	simulation->rank_count = rank_count;
	simulation->state = policy->create ? policy->create(values) : NULL;
	simulation->owner = calloc(cpus, sizeof(unsigned int));
	simulation->count = calloc(rank_count, sizeof(unsigned int));
	simulation->home = calloc(rank_count, sizeof(unsigned int));
	simulation->plan.owner = calloc(cpus, sizeof(unsigned int));
	simulation->plan.count = calloc(rank_count, sizeof(unsigned int));
	simulation->samples = calloc(rank_count, sizeof(*simulation->samples));
	simulation->mpi_s = calloc(rank_count, sizeof(double));
	if ((policy->create && !simulation->state) || !simulation->owner || !simulation->count ||
	    !simulation->home || !simulation->plan.owner || !simulation->plan.count ||
	    !simulation->samples || !simulation->mpi_s) {
		mal_simulation_destroy(simulation);
		return NULL;
	}
	memcpy(simulation->owner, owner, cpus * sizeof(*owner));
	mal_count_cpus(simulation->owner, simulation->topology.cpu_count, simulation->rank_count,
		       simulation->home);
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
	free(simulation->owner);
	free(simulation->count);
	free(simulation->home);
	free(simulation->plan.owner);
	free(simulation->plan.count);
	free(simulation->samples);
	free(simulation->mpi_s);
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

double mal_outcome_attained(const struct mal_outcome *outcome)
{
	return mal_attained(outcome->off_s, outcome->ideal_s, outcome->elapsed_s);
}

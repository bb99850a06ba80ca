/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * simulation.h: what a policy would have made of a step: its windows, one after the other, with the CPUs that the policy
 * would have given to the ranks. The loads come from samples; the times from the model (model.h); the decisions from the
 * policy itself. A decision on one window takes effect in the next, as in a step.
 */
#ifndef MAL_POLICIES_SIMULATION_H
#define MAL_POLICIES_SIMULATION_H

#include "policies/policy.h"

struct mal_simulation;

/* What came of it so far. */
struct mal_outcome {
	unsigned int windows;
	double elapsed_s;
	double ideal_s;	     /* with all work spread over all CPUs */
	double off_s;	     /* with the CPUs of the beginning, nothing lent */
	unsigned long moves; /* CPUs that changed hands */
	const char *flaw;    /* the policy's plan was unfit; from then on nothing moved. Static text, or NULL */
};

/*
 * A step of RANK_COUNT ranks on TOPOLOGY, which must outlive the simulation, as must POLICY; OWNER, by CPU: the rank that has
 * it at first, RANK_COUNT or more: none. VALUES are the policy's parameters. NULL: out of memory.
 */
struct mal_simulation *mal_simulation_create(const struct mal_policy *policy, const double *values,
					     const struct mal_topology *topology, unsigned int rank_count,
					     const unsigned int *owner);

/* NULL-safe. */
void mal_simulation_destroy(struct mal_simulation *simulation);

/* The next window: SAMPLES by rank, as they were measured. Returns the seconds that it would have taken. */
double mal_simulation_window(struct mal_simulation *simulation, const struct mal_sample *samples);

/* Valid until the next window. */
const struct mal_outcome *mal_simulation_outcome(const struct mal_simulation *simulation);

/* The outcome's share of the attainable. */
double mal_outcome_share(const struct mal_outcome *outcome);

/* Share of the attainable: (off - elapsed) / (off - ideal); NaN where there is less than one percent to gain. */
double mal_share_of_attainable(double off_s, double ideal_s, double elapsed_s);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * simulation.h: replay a step, window by window, as a policy would have run it.
 *
 * Loads come from samples, times from the model (model.h), and decisions from the policy itself. A
 * decision on one window takes effect in the next, as in a real step.
 */
#pragma once

#include "policies/interface/policy.h"

struct mal_simulation;

/* The result so far. */
struct mal_outcome {
	const char *policy; /* its name */
	unsigned int windows;
	double elapsed_s;
	double ideal_s;	     /* with all work spread over all CPUs */
	double off_s;	     /* with the CPUs of the beginning, nothing lent */
	unsigned long moves; /* CPUs that changed hands */
	/* The way in the last window, as in the plan (policy.h); CPUs by rank, the simulation's. */
	bool lends;
	double move_times, lend_times;
	const unsigned int *count;
	const char *rejection; /* why a plan was unfit: nothing moves after it. NULL: none was */
};

/*
 * Start a step of RANK_COUNT ranks. OWNER says, by CPU, which rank has it at first (RANK_COUNT or
 * more: none). VALUES are the policy's parameters. POLICY, and what TOPOLOGY points to, must
 * outlive the simulation. Returns NULL if memory runs out, or there are too many ranks or CPUs.
 */
struct mal_simulation *mal_simulation_create(const struct mal_policy *policy, const double *values,
					     const struct mal_topology *topology,
					     unsigned int rank_count, const unsigned int *owner);

/* NULL-safe. */
void mal_simulation_destroy(struct mal_simulation *simulation);

/* Simulate the next window from its measured SAMPLES, by rank. Returns its length in seconds. */
double mal_simulation_window(struct mal_simulation *simulation, const struct mal_sample *samples);

/* Valid until the next window. */
const struct mal_outcome *mal_simulation_outcome(const struct mal_simulation *simulation);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * model.h: how long a window takes with given CPUs: what forecasts, replays and reports have in common.
 *
 * A rank computes serially, then in parallel on the CPUs that it uses, then waits for the longest one. What is communicated
 * takes the same time however the CPUs are shared out: as long as the rank that waited least. Where ranks lend, those
 * that still compute get the CPUs of those that wait: at once where regions grow, else when their next region begins.
 */
#ifndef MAL_POLICIES_MODEL_H
#define MAL_POLICIES_MODEL_H

#include "policies/policy.h"

/* How the CPUs are used in a window. */
struct mal_setting {
	const unsigned int *count; /* by rank: CPUs that it owns */
	bool lend;
	bool grow;
	struct mal_lending lending; /* only keep_one and most are looked at */
};

/* The length of the window: that of the rank that says the longest. */
double mal_model_elapsed(const struct mal_sample *samples, unsigned int rank_count);

/* The length of a phase in it; of the window, where ranks count no phases. */
double mal_model_phase(const struct mal_sample *samples, unsigned int rank_count);

/* The shortest time that a running rank spent in MPI, 0 if none runs. */
double mal_model_communication(const struct mal_sample *samples, unsigned int rank_count);

/* The window's time if all work were spread over CPUS CPUs. */
double mal_model_ideal(const struct mal_sample *samples, unsigned int rank_count, unsigned int cpus);

/*
 * The window's time with SETTING. Where MPI_S is not NULL it is filled, by rank, with the time that each would spend in MPI. A
 * rank without CPUs counts as having one. Time ranks x ranks at most, ranks where nothing is lent.
 */
double mal_model_window(const struct mal_sample *samples, unsigned int rank_count, const struct mal_setting *setting,
			double *mpi_s);

#endif

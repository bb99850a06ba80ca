/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * model.h: compute how long a window takes with given CPUs, for forecasts, replays and reports.
 *
 * A rank computes serially, then in parallel on its CPUs, then waits for the longest rank.
 * Communication takes the same time however CPUs are shared out: as long as in the rank that waited
 * least. If ranks lend, computing ranks get the CPUs of waiting ones: at once if regions grow, else
 * when their next region begins.
 */
#pragma once

#include "policies/interface/policy.h"

/* How the CPUs are used in a window. */
struct mal_usage {
	const unsigned int *count; /* by rank: CPUs that it owns */
	bool lend;
	bool grow;
	struct mal_lending lending; /* only keep_one and max matter here */
};

/* Returns the seconds that a rank spent inside parallel regions. */
double mal_model_inside(const struct mal_sample *sample);

/* Returns the window's length: the longest that a rank measured. */
double mal_model_elapsed(const struct mal_sample *samples, unsigned int rank_count);

/* Returns the length of a phase in the window, or of the window if ranks count no phases. */
double mal_model_phase(const struct mal_sample *samples, unsigned int rank_count);

/* Returns the number of a rank's regions, at least 1; 0: not known. */
double mal_model_regions(const struct mal_sample *sample);

/* Returns the shortest time that a running rank spent in MPI, 0 if none runs. */
double mal_model_communication(const struct mal_sample *samples, unsigned int rank_count);

/* Returns the window's time with all work spread over CPUS CPUs. */
double mal_model_ideal(const struct mal_sample *samples, unsigned int rank_count,
		       unsigned int cpus);

/*
 * Returns the window's time with USAGE. If MPI_S is not NULL, it gets the time that each rank
 * would spend in MPI. A rank without CPUs counts as having one. Takes time ranks x ranks at most,
 * ranks if nothing is lent.
 */
double mal_model_window(const struct mal_sample *samples, unsigned int rank_count,
			const struct mal_usage *usage, double *mpi_s);

/* A waiting rank lends after this time (libmalleable/rank/lend.c). */
#define MAL_LEND_AFTER_S 150e-6
/* Only regions at least this long are opened wider (libmalleable/rank/region.c). */
#define MAL_GROW_REGION_S 2e-3
/* A growing rank opens regions with this many threads per CPU. */
#define MAL_GROW_THREADS 2
/* Times that differ by less are the same. */
#define MAL_ROUNDING_S 1e-12

/* What a rank is at, one after the other. */
enum mal_activity { MAL_SERIAL, MAL_PARALLEL, MAL_WAITING, MAL_LENT };

/* How long RUNNER goes on as it is in SCENE; below 0: for ever. */
typedef double mal_time_left(const void *scene, unsigned int runner);

/* Returns the time until the next event: the shortest of COUNT runners' times. */
double mal_next_event(const void *scene, unsigned int count, mal_time_left *left_of);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * efficiency.h: where the time of the CPUs went, as the efficiencies of the POP project: a product
 * of factors, of which each is 1 where nothing is lost (https://pop-coe.eu/node/69).
 *
 * parallel = mpi x openmp
 *   mpi = load_balance x communication
 *   openmp = serial x regions
 */
#pragma once

#include "policies/interface/policy.h"

/* Seconds of CPUs, summed over windows. Each is part of the one before it, but for noise. */
struct mal_cpu_seconds {
	double all_s;	    /* that there were */
	double reachable_s; /* without the time that the rank spent in MPI which waited least */
	double computing_s; /* of ranks outside MPI: of all their CPUs while one thread works */
	double threads_s;   /* of threads outside MPI, idle in regions or not */
	double useful_s;    /* of threads that worked */
};

/* NaN: nothing was measured. More than 1 is noise. */
struct mal_efficiencies {
	double parallel;      /* useful / all */
	double mpi;	      /* computing / all */
	double load_balance;  /* computing / reachable */
	double communication; /* reachable / all */
	double openmp;	      /* useful / computing */
	double serial;	      /* threads / computing: lost while one thread works alone */
	double regions;	      /* useful / threads: lost in barriers and idle in regions */
};

/* Add a window of RANK_COUNT ranks on CPUS CPUs. */
void mal_cpu_seconds_add(struct mal_cpu_seconds *seconds, const struct mal_sample *samples,
			 unsigned int rank_count, unsigned int cpus);

struct mal_efficiencies mal_efficiencies(const struct mal_cpu_seconds *seconds);

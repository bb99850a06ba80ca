/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scaling.h: learn how well each rank's parallel work scales, from moves of CPUs.
 *
 * A rank's regions take fixed + work / n with n CPUs (Amdahl 1967). The fixed part is whatever more
 * CPUs do not shorten: serial code inside regions, contention, a saturated memory bus. One window
 * cannot show it. After a move, the core times of the same work with two numbers of CPUs do.
 */
#ifndef MAL_POLICIES_MODEL_SCALING_H
#define MAL_POLICIES_MODEL_SCALING_H

#include "policies/interface/limits.h"
#include "policies/interface/policy.h"

struct mal_load {
	double work;   /* divided by the CPUs */
	double serial; /* not divided */
};

/* Windows to look at: two before a change of CPUs, two after it. */
#define MAL_SCALING_SEEN 4

/* All 0 at first. */
struct mal_scaling {
	size_t count; /* ranks */
	struct mal_scaling_record {
		struct mal_seen {
			unsigned int cpus;
			double work_s; /* core time that was work, a phase */
			double core_s; /* with idle time in regions; NAN if threads came and went */
		} seen[MAL_SCALING_SEEN]; /* the last one last; no CPUs: none */
		double fixed, weight;	  /* sums over changes */
	} records[MAL_MAX_RANKS];
};

/*
 * Learn a window's samples. A rank is judged if its core time per phase was steady for two windows
 * before and two after a change of its CPUs; drifting loads tell nothing.
 */
void mal_scaling_learn(struct mal_scaling *scaling, const struct mal_view *view);

/* Returns the part of RANK's time on one CPU that more CPUs do not shorten: 0 (or unknown) to 1. */
double mal_scaling_fixed(const struct mal_scaling *scaling, unsigned int rank);

/* Split SAMPLE, RANK's last one, into work that scales and work that does not, in CPU seconds. */
struct mal_load mal_scaling_load(const struct mal_scaling *scaling, unsigned int rank,
				 const struct mal_sample *sample);

#endif

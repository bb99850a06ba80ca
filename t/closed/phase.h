/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * phase.h: how long a made-up program's phase takes on the CPUs that its ranks have.
 *
 * A rank computes serially, then in regions, then waits for the longest. What a region takes with n
 * CPUs is not what policies believe: part of it may not scale, threads may be in each other's way,
 * and CPUs of another NUMA node may be slow. Waiting ranks lend as in the model of a replay
 * (model.h).
 */
#pragma once

#include "policies/interface/policy.h"

/* A rank in a phase. */
struct mal_runner {
	/* Given: */
	double serial_s, work_s; /* work: on one CPU of its own that nobody disturbs */
	double fixed, crowd, remote;
	unsigned int most_crowd;	  /* more CPUs than these do not crowd it more */
	unsigned int near_cpus, far_cpus; /* that it owns and uses */
	unsigned int most;		  /* with those it borrows; 0: any number */
	/* Found: */
	double done_s;	  /* when it begins to wait */
	double busy_s;	  /* in regions, over all threads */
	double barrier_s; /* the rest of its threads' time in regions */
	/* Between the two: */
	unsigned int activity, used;
	double left, region_left, took_s;
};

struct mal_phase_rules {
	bool lend, grow, keep_one;
	unsigned int max;     /* CPUs that a rank uses when it borrows, 0: any number */
	unsigned int regions; /* in the phase */
	double lend_s;	      /* what it costs the phase if anything is lent */
};

/* Returns the time until the longest of COUNT runners is done. */
double mal_phase_run(struct mal_runner *runners, unsigned int count,
		     const struct mal_phase_rules *rules);

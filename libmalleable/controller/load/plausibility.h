/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plausibility.h: what ranks measured against the CPU time that the kernel counts.
 *
 * Invariant: A window in which a rank was stopped is thrown away (t/unit/test_sampling.c:
 * windows_of_stopped_ranks_are_thrown_away). What the ranks used does not count as others'
 * (t/unit/test_others.c: time_of_others_is_counted).
 */
#pragma once

#include <stdio.h>

#include "libmalleable/controller/state/controller.h"

/* How much others use is not known yet. */
void mal_plausibility_open(struct mal_controller *controller);

/* What a rank said of its CPU time in a window. */
struct mal_cpu_time {
	double cpu_s;	       /* of all its threads */
	double outside_team_s; /* of those that are not of its team */
	double beside_s;       /* not in these: of our thread that reads the program */
	double waits_s;	       /* for which its primary thread waited outside MPI */
};

/*
 * Look at a window. False if it must be thrown away: a rank computed for far longer than it had
 * CPUs, and usually it does not. It was stopped by a signal, a debugger, or with its whole job. (A
 * program that sleeps where it should compute always does.)
 */
bool mal_plausibility_window(struct mal_controller *controller, const struct mal_sample *samples,
			     const struct mal_cpu_time *times);

/* For which part of their time ranks waited outside MPI. */
struct mal_outside {
	double part, max; /* of all ranks, and of RANK, which did so most */
	unsigned int rank;
	bool known; /* it is not what a virtual machine's host took, nor noise */
};
struct mal_outside mal_plausibility_outside(const struct mal_controller *controller);

/*
 * What the ranks used since the last window is not known: a rank came, ended, or gave no sample.
 * Count anew from the next.
 */
void mal_plausibility_skip(struct mal_controller *controller);

/* Free what was read. */
void mal_plausibility_close(struct mal_controller *controller);

/* How much of the ranks' CPUs others use: processes, or a virtual machine's host. */

/*
 * For how long processes, or the host, have used CPUS since the machine started, by STAT:
 * /proc/stat, proc_stat(5). Without interrupts, which may be of the ranks' own communication. 0 if
 * STAT is NULL or one of the CPUs is not in it.
 */
struct mal_busy mal_others_busy(FILE *stat, const struct mal_cpumask *cpus);

/* The ranks used RANKS_S in a window. True if the CPUs are to be read again at NOW_S. */
bool mal_others_add(struct mal_others *others, double ranks_s, double now_s);

/* At NOW_S, COUNT CPUs had been BUSY; if that is not known nothing is counted. */
void mal_others_count(struct mal_others *others, struct mal_busy busy, unsigned int count,
		      double now_s);

/* The part of the CPUs' time that others used, from 0 to 1; NAN if nothing was counted. */
double mal_others_part(const struct mal_others *others);

/*
 * How much others took of the time of a thread that waited in run queues for the part WAITED of
 * it, at most: it may have waited for threads of its own step. On COUNT CPUs; from 0 to 1.
 */
double mal_others_taken(const struct mal_others *others, double waited, unsigned int count);

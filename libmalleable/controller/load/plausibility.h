/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plausibility.h: what ranks measured against the CPU time that the kernel counts.
 *
 * Invariant: A window in which a rank was stopped is thrown away (t/unit/test_sampling.c:
 * stopped_windows).
 */
#ifndef MAL_CONTROLLER_LOAD_PLAUSIBILITY_H
#define MAL_CONTROLLER_LOAD_PLAUSIBILITY_H

#include "libmalleable/controller/state/controller.h"

/* Windows in which what the ranks measured is not what they did. */
struct mal_plausibility {
	unsigned int stopped; /* thrown away: ranks computed far longer than they had CPUs */
	unsigned int unseen;  /* nothing was moved: a rank worked in threads that it cannot see */
	unsigned int rank;    /* the last such */
	double unseen_s, seen_s; /* what it did so, and what it measured, in all of these windows */
	bool now;		 /* the last window was one */
	/* Of the ranks' CPUs, used by others (other_load.h); NAN: not known. */
	double others_part;
	double lost_part; /* of the time for which ranks computed, without a CPU */
};

/* For so many RANKS, before the first window. NULL: out of memory. */
struct mal_plausibility_state *mal_plausibility_create(unsigned int ranks);

/* NULL-safe. */
void mal_plausibility_destroy(struct mal_plausibility_state *plausibility);

/* What was found in all windows so far. */
const struct mal_plausibility *mal_plausibility_read(const struct mal_controller *controller);

/* What a rank said of its CPU time in a window. */
struct mal_cpu_time {
	double cpu_s;	 /* of all its threads */
	double unseen_s; /* of those that are not of its team */
};

/*
 * Look at a window. False if it must be thrown away: a rank computed for far longer than it had
 * CPUs, and usually it does not. It was stopped by a signal, a debugger, or with its whole job. (A
 * program that sleeps where it should compute always does.)
 */
bool mal_plausibility_window(struct mal_controller *controller, const struct mal_sample *samples,
			     const struct mal_cpu_time *times);

/* What the ranks used since the last window is not known: a rank came, ended, or gave no sample. */
void mal_plausibility_skip(struct mal_controller *controller);

#endif

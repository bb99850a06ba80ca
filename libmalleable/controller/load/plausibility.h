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

/* How much others use is not known yet. */
void mal_plausibility_open(struct mal_controller *controller);

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

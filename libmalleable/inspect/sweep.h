/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sweep.h: follows the values of a function until they are steady, and judges what it does. */
#ifndef MAL_INSPECT_SWEEP_H
#define MAL_INSPECT_SWEEP_H

#include "libmalleable/inspect/analysis.h"

/*
 * How a function is reached: by a runtime as a region, called by every thread, or by one that runs
 * an iteration.
 */
enum mal_reached { MAL_REACHED_LIBOMP, MAL_REACHED_LIBGOMP, MAL_REACHED_CALL, MAL_REACHED_SHARE };

/* What is passed to a function, and what is found out of it. */
struct mal_sweep {
	uint64_t entry;
	enum mal_reached reached;
	/* Arguments that are addresses of memory that was allocated: a bit for each register. */
	uint16_t heap;
	int depth;
	struct mal_finding *finding;
	/* Why its result differs among threads, or NULL. */
	const char *returns;
};

/* Only for want of memory it returns -1. */
int mal_sweep(struct mal_program *program, struct mal_sweep *sweep);

/*
 * What is known of a function that is called, by every thread or, of addresses in HEAP, within a
 * share; NULL where that cannot be found out.
 */
const struct mal_callee *mal_sweep_callee(struct mal_analysis *analysis, uint64_t entry,
					  enum mal_reached reached, uint16_t heap);

#endif

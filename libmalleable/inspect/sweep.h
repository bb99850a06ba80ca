/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sweep.h: follows the values of a function until they are steady, and judges what it does. */
#ifndef MAL_INSPECT_SWEEP_H
#define MAL_INSPECT_SWEEP_H

#include "libmalleable/inspect/analysis.h"

/* How a function is reached: by a runtime as a region, or called by every thread. */
enum mal_reached { MAL_REACHED_LIBOMP, MAL_REACHED_LIBGOMP, MAL_REACHED_CALL };

/* Only for want of memory it returns -1. *RETURNS: why its result differs among threads. */
int mal_sweep(struct mal_program *program, uint64_t entry, enum mal_reached reached, int depth,
	      struct mal_finding *finding, const char **returns);

/* What is known of a function that every thread calls, NULL where that cannot be found out. */
const struct mal_callee *mal_sweep_callee(struct mal_analysis *analysis, uint64_t entry);

#endif

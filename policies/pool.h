/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pool.h: how many CPUs each of several steps gets that have a pool of them; a pure function. */
#ifndef MAL_POLICIES_POOL_H
#define MAL_POLICIES_POOL_H

#include <stddef.h>

/* A rank in the last window. */
struct mal_pool_rank {
	unsigned int step; /* its number, from 0 on */
	unsigned int cpus; /* that it owns */
	unsigned int most; /* that it can use, 0: any number */
	double work,
		serial; /* seconds of work on one CPU, and of the primary thread alone, for each second that passed */
};

/*
 * Share out the CPUs that RANKS have in sum, and fill WANTED with the sum for each of the STEP_COUNT steps. One by one they go to the
 * busiest rank that is helped by one more; a rank whose time is serial work is not. A step that waits for something else may
 * become busier, up to what the busiest is now. Returns the part by which the busiest rank of one of the steps has less to do then, 0 to 1; 0
 * with WANTED undefined: nothing is gained, or it cannot be.
 */
double mal_pool_divide(const struct mal_pool_rank *ranks, unsigned int rank_count, unsigned int step_count,
		       unsigned int *wanted);

#endif

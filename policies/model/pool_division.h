/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pool_division.h: share out a pool of CPUs among several steps; a pure function. */
#pragma once

/* A rank in the last window. */
struct mal_pool_rank {
	unsigned int step; /* its number, from 0 on */
	unsigned int cpus; /* that it owns */
	unsigned int max;  /* that it can use, 0: any number */
	/* Seconds of work on one CPU, and of the primary thread alone, per second that passed. */
	double work, serial;
};

/*
 * Share out all CPUs of RANKS, and fill WANTED with the sum for each of the STEP_COUNT steps. CPUs
 * go one by one to the busiest rank that one more helps; it does not help a rank with serial work
 * alone. A step that waits for something else may become busier, up to the busiest step now.
 * Returns the largest part, 0 to 1, by which a step's busiest rank gets less to do. Returns 0, with
 * WANTED undefined, if nothing is gained or it is impossible.
 */
double mal_pool_divide(const struct mal_pool_rank *ranks, unsigned int rank_count,
		       unsigned int step_count, unsigned int *wanted);

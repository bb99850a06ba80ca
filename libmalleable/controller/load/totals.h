/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* totals.h: what windows add up to: time as it was, without balancing, and at best. */
#ifndef MAL_CONTROLLER_LOAD_TOTALS_H
#define MAL_CONTROLLER_LOAD_TOTALS_H

#include "libmalleable/controller/state/controller.h"
#include "policies/model/efficiency.h"

/* What the windows add up to. */
struct mal_totals {
	unsigned int windows;
	double elapsed_s; /* as it was */
	double off_s;	  /* predicted without balancing, at least */
	double unsure_s;  /* it may be so much more */
	double shared_s;  /* of the elapsed time, where it is no measure of that without */
	double ideal_s;	  /* predicted with perfect balance */
	struct mal_cpu_seconds cpus;	      /* where their time went */
	double balance_before, balance_after; /* load balance, weighted by elapsed time */
};

/* What the windows of a rank add up to. */
struct mal_rank_totals {
	double work_s, barrier_s, serial_s, mpi_s;
};

/* For so many RANKS, before the first window. NULL: out of memory. */
struct mal_totalling *mal_totalling_create(unsigned int ranks);

/* NULL-safe. */
void mal_totalling_destroy(struct mal_totalling *totalling);

/* The sums so far, of all ranks and of RANK. */
const struct mal_totals *mal_totals_read(const struct mal_controller *controller);
const struct mal_rank_totals *mal_totals_of_rank(const struct mal_controller *controller,
						 unsigned int rank);

/* Of a step of STEP_S seconds: what no window measured. It takes as long without us. */
double mal_totals_outside(const struct mal_totals *totals, double step_s);

/* Add one window, which is the last one from now on. */
void mal_totals_add(struct mal_controller *controller, const struct mal_sample *samples);

/* Share of the attainable: (off - elapsed) / (off - ideal), NaN where there was nothing to gain. */
double mal_totals_attained(const struct mal_totals *totals);

/*
 * The same for people: 0 where it was slower, as a small gain that was missed by much is a large
 * negative share; NaN also where the step was only observed, and any share would be noise.
 */
double mal_totals_got(const struct mal_controller *controller);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * series.h: a trace made small enough for a picture: columns of windows, rows of ranks, and what
 * all windows add up to.
 */
#ifndef MAL_CMD_SERIES_H
#define MAL_CMD_SERIES_H

#include "libmalleable/trace/trace.h"
#include "policies/model/efficiency.h"

/* Rows at most, and cells: what a picture takes in a file is bounded by them. */
#define MAL_SERIES_ROWS 128u
#define MAL_SERIES_CELLS 20000u

/* Some windows, one after the other. */
struct mal_series_column {
	double begin_s, end_s;
	size_t first, count; /* windows */
	struct mal_cpu_seconds cpus;
};

struct mal_series_rank {
	unsigned int cpus_first, cpus_last; /* that it owned */
	double work_s, serial_s, mpi_s, barrier_s;
};

struct mal_series {
	unsigned int rows, ranks_per_row;
	size_t column_count;
	struct mal_series_column *columns;
	/* Rows of columns: of one rank of the row on average. */
	double *cpus;	/* that it owned */
	double *active; /* that worked for it, on average */
	double max;	/* the largest of both */
	struct mal_series_rank *ranks;
	struct mal_cpu_seconds all;
};

/* Returns 0, or -1 with ERR: out of memory; the caller destroys SERIES in both cases. */
int mal_series_make(struct mal_series *series, const struct mal_trace *trace,
		    struct mal_error *err);

void mal_series_destroy(struct mal_series *series);

#endif

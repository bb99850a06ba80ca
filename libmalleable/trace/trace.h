/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace.h: what happened in a step, window by window, as a file of JSON lines (doc/trace.md). The
 * controller writes traces; malleable replay reads them.
 *
 * A trace or a writer is for one thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "libmalleable/base/error.h"
#include "libmalleable/core/others.h"
#include "policies/interface/policy.h"

/* So many named regions of all ranks are in a line, at most: it has a bounded length. */
#define MAL_TRACE_REGIONS 2048

/* What a rank did in a region that its program named. */
struct mal_trace_region {
	unsigned int rank;
	char name[64];
	double elapsed_s, work_s, serial_s, mpi_s;
};

/* So many uses of CPUs by ranks that do not own them are in a line, at most. */
#define MAL_TRACE_BORROWED 2048

/* So many numbers of pages are in a line, at most, and so large ones. */
#define MAL_TRACE_PAGES 16384
#define MAL_TRACE_PAGES_MAX 65536
#define MAL_TRACE_NODES 1024

/*
 * What ranks had of the node in a window. How long each CPU was busy, in thousandths of the window:
 * for its owner, by CPU; and for other ranks. How many pages of those that it looked at a rank
 * found on a NUMA node: all of a rank's whose numbers are others than in the window before.
 */
struct mal_trace_resources {
	const unsigned int *busy;
	const struct mal_trace_borrowed {
		unsigned int cpu, rank, part; /* CPU: its index */
	} *borrowed;
	size_t borrowed_count;
	const struct mal_trace_pages {
		unsigned int rank, node, count;
	} *pages;
	size_t pages_count;
};

/* Version of the format; files of other versions are refused. */
#define MAL_TRACE_VERSION 1

/* A window. It keeps the samples of ranks that ran: a file may name few of many in each line. */
struct mal_trace_window {
	double elapsed_s;
	double end_s;		 /* since the step's start; windows that were read do not overlap */
	unsigned int count;	 /* ranks that ran */
	struct mal_sample *kept; /* theirs; mal_trace_samples() has them by rank */
	const unsigned int *ranks; /* their numbers */
	const unsigned int *owner; /* by CPU */
};

struct mal_trace {
	char step[64];
	char node[64];
	char policy[64]; /* name only */
	unsigned int rank_count;
	unsigned int *cpu; /* numbers of the CPUs on the node */
	unsigned int *l3, *numa, *package;
	struct mal_topology topology; /* views of the arrays above, for policies */
	unsigned int *parts;	      /* by CPU: its rank, where ranks own equal parts */
	struct mal_sample *samples;   /* by rank: room for those of one window */
	bool cut;		      /* the file's last line is incomplete: the step was killed */
	struct mal_others_parts others; /* in all windows together */
	size_t window_count;
	struct mal_trace_window *windows;
};

/*
 * Allocate a trace of RANK_COUNT ranks and CPU_COUNT CPUs, without windows. Returns 0, or -1 with
 * ERR.
 */
int mal_trace_create(struct mal_trace *trace, unsigned int rank_count, unsigned int cpu_count,
		     struct mal_error *err);

/*
 * Move the trace to CPU_COUNT other CPUs, numbered from 0, all in one place; in each window the
 * ranks own equal parts. Returns 0, or -1 with ERR.
 */
int mal_trace_change_cpus(struct mal_trace *trace, unsigned int cpu_count, struct mal_error *err);

/*
 * The trace has RANK_COUNT ranks from here on, which is more than before. Returns 0, or -1 with
 * ERR.
 */
int mal_trace_add_ranks(struct mal_trace *trace, unsigned int rank_count, struct mal_error *err);

/*
 * Append a window with copies of SAMPLES, by rank, and OWNER, by CPU; its times are 0, for the
 * caller to fill. Valid until the next call. NULL: out of memory.
 */
struct mal_trace_window *mal_trace_add_window(struct mal_trace *trace,
					      const struct mal_sample *samples,
					      const unsigned int *owner);

/* The samples of WINDOW by rank, in trace->samples: valid until the next call. */
const struct mal_sample *mal_trace_samples(const struct mal_trace *trace,
					   const struct mal_trace_window *window);

/* Free all of TRACE, which may be all 0. */
void mal_trace_destroy(struct mal_trace *trace);

/*
 * Read file PATH. Refuses, with the line's number, numbers out of range, negative or missing times,
 * and unknown ranks and CPUs. Skips an incomplete last line. Returns 0, or -1 with ERR; in both
 * cases the caller destroys TRACE.
 */
int mal_trace_read(struct mal_trace *trace, const char *path, struct mal_error *err);

/* The same of FILE, which is open, and called PATH in errors. */
int mal_trace_read_file(struct mal_trace *trace, FILE *file, const char *path,
			struct mal_error *err);

/* A file that is being written. */
struct mal_trace_writer;

/*
 * Write the description of the step in TRACE to FILE, of mal_output_take(), which PATH
 * names. FILE is the writer's from then on. Returns NULL with ERR on failure, and FILE is closed.
 */
struct mal_trace_writer *mal_trace_open(FILE *file, const char *path, const struct mal_trace *trace,
					struct mal_error *err);

/* The step has RANK_COUNT ranks from the next window on; nothing is written unless that is more. */
void mal_trace_write_ranks(struct mal_trace_writer *writer, unsigned int rank_count);

/*
 * Write a window that ended AT_S seconds after the step's start and lasted ELAPSED_S: SAMPLES by
 * rank, OWNER by CPU, what others had until then, the ranks' RESOURCES (NULL: not known), and the
 * COUNT named REGIONS in the order of ranks. mal_trace_close() reports failures.
 */
void mal_trace_write_window(struct mal_trace_writer *writer, double at_s, double elapsed_s,
			    const struct mal_sample *samples, const unsigned int *owner,
			    struct mal_others_parts others,
			    const struct mal_trace_resources *resources,
			    const struct mal_trace_region *regions, size_t count);

/* Write a policy's decision on the last window, and WHY it was rejected (NULL: it was not). */
void mal_trace_write_plan(struct mal_trace_writer *writer, const struct mal_plan *plan,
			  const char *why);

/*
 * Close the file and free WRITER (may be NULL). Returns 0, or -1 with ERR if anything could not be
 * written.
 */
int mal_trace_close(struct mal_trace_writer *writer, struct mal_error *err);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace.h: what happened in a step, window by window, as a file of JSON lines (doc/trace.md): the controller writes them, malleable
 * replay reads them, and makes synthetic ones.
 */
#ifndef MAL_TRACE_TRACE_H
#define MAL_TRACE_TRACE_H

#include <stddef.h>

#include "libmalleable/core/error.h"
#include "policies/policy.h"

/* Version of the format; files of another one are refused. */
#define MAL_TRACE_VERSION 1

/* A window: samples by rank, and by CPU the rank that owned it. */
struct mal_trace_window {
	double elapsed_s;
	struct mal_sample *samples;
	unsigned int *owner;
};

struct mal_trace {
	char step[64];
	char node[64];
	char policy[64]; /* its name */
	unsigned int rank_count;
	unsigned int *cpu; /* numbers of the CPUs on the node */
	unsigned int *l3, *numa, *package;
	struct mal_topology topology; /* the same, for policies */
	bool cut;		      /* the file's last line was not finished: the step was killed */
	size_t window_count;
	struct mal_trace_window *windows;
};

/* Room for a trace of RANK_COUNT ranks and CPU_COUNT CPUs, without windows. Returns 0, or -1 with ERR. */
int mal_trace_create(struct mal_trace *trace, unsigned int rank_count, unsigned int cpu_count, struct mal_error *err);

/*
 * Put the trace on CPU_COUNT other CPUs, numbered from 0, all in one place, of which the ranks own equal parts in each window.
 * Returns 0, or -1 with ERR.
 */
int mal_trace_change_cpus(struct mal_trace *trace, unsigned int cpu_count, struct mal_error *err);

/* One window more, all 0, for the caller to fill: the last one. NULL: out of memory. */
struct mal_trace_window *mal_trace_add_window(struct mal_trace *trace);

/* Frees all of it. Safe on a trace that is all 0. */
void mal_trace_destroy(struct mal_trace *trace);

/*
 * Read file PATH. What is wrong in it is refused with its line: numbers out of range, times that are negative or no numbers, ranks
 * and CPUs that do not exist. A last line that was not finished is left out. Returns 0, or -1 with ERR; TRACE is to be destroyed in both cases.
 */
int mal_trace_read(struct mal_trace *trace, const char *path, struct mal_error *err);

/* A file that is being written. */
struct mal_trace_writer;

/* Create file PATH and write what TRACE says of the step. NULL: ERR says why. */
struct mal_trace_writer *mal_trace_open(const char *path, const struct mal_trace *trace, struct mal_error *err);

/*
 * Write a window that ended AT_S seconds after the step's start and lasted ELAPSED_S: SAMPLES by rank, OWNER by CPU. Failures
 * are noted, see mal_trace_close.
 */
void mal_trace_write_window(struct mal_trace_writer *writer, double at_s, double elapsed_s,
			    const struct mal_sample *samples, const unsigned int *owner);

/* Write what a policy decided on the last window; WHY, where not NULL: it was set aside for that. */
void mal_trace_write_plan(struct mal_trace_writer *writer, const struct mal_plan *plan, const char *why);

/* Close the file. Returns 0, or -1 with ERR if anything could not be written. NULL-safe. */
int mal_trace_close(struct mal_trace_writer *writer, struct mal_error *err);

#endif

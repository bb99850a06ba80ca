/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * formats.h: a trace in formats that other programs read. Errors of writing stay with the file, as
 * those of fprintf do.
 */
#ifndef MAL_CMD_FORMATS_H
#define MAL_CMD_FORMATS_H

#include <stdio.h>

#include "libmalleable/trace/trace.h"

/* A line for each rank of each window, the first one with names. */
void mal_to_csv(FILE *out, const struct mal_trace *trace);

/* Trace events of Chrome, which Perfetto reads too: ranks and CPUs as tracks, and counters. */
void mal_to_perfetto(FILE *out, const struct mal_trace *trace);

/* Paraver: states and events by rank (.prv), their names (.pcf), the names of rows (.row). */
void mal_to_paraver(FILE *out, const struct mal_trace *trace);
void mal_to_paraver_names(FILE *out, const struct mal_trace *trace);
void mal_to_paraver_rows(FILE *out, const struct mal_trace *trace);

/* When a window begins. */
static inline double mal_window_begin(const struct mal_trace_window *window)
{
	return window->end_s - window->elapsed_s;
}

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* trace.c: a trace in memory. */
#include "libmalleable/trace/trace.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int make_places(struct mal_trace *trace, unsigned int cpu_count, struct mal_error *err)
{
	unsigned int *arrays = calloc(4 * (size_t)cpu_count, sizeof(*arrays));

	if (!arrays)
		return mal_fail(err, "out of memory for a trace");
	free(trace->cpu);
	trace->cpu = arrays;
	trace->l3 = arrays + cpu_count;
	trace->numa = trace->l3 + cpu_count;
	trace->package = trace->numa + cpu_count;
	trace->topology =
		(struct mal_topology){cpu_count, trace->l3, trace->numa, trace->package, NULL};
	for (unsigned int cpu = 0; cpu < cpu_count; cpu++)
		trace->cpu[cpu] = cpu;
	return 0;
}

int mal_trace_create(struct mal_trace *trace, unsigned int rank_count, unsigned int cpu_count,
		     struct mal_error *err)
{
	memset(trace, 0, sizeof(*trace));
	trace->rank_count = rank_count;
	return make_places(trace, cpu_count, err);
}

int mal_trace_change_cpus(struct mal_trace *trace, unsigned int cpu_count, struct mal_error *err)
{
	if (make_places(trace, cpu_count, err) < 0)
		return -1;
	for (size_t i = 0; i < trace->window_count; i++) {
		unsigned int *owner = realloc(trace->windows[i].owner, cpu_count * sizeof(*owner));

		if (!owner)
			return mal_fail(err, "out of memory for a trace");
		for (unsigned int cpu = 0; cpu < cpu_count; cpu++)
			owner[cpu] = (unsigned int)((uint64_t)cpu * trace->rank_count / cpu_count);
		trace->windows[i].owner = owner;
	}
	return 0;
}

struct mal_trace_window *mal_trace_add_window(struct mal_trace *trace)
{
	size_t count = trace->window_count;
	struct mal_trace_window *window;

	/* Capacity doubles at powers of two. */
	if ((count & (count - 1)) == 0) {
		struct mal_trace_window *windows =
			realloc(trace->windows, (count ? 2 * count : 1) * sizeof(*windows));

		if (!windows)
			return NULL;
		trace->windows = windows;
	}
	window = &trace->windows[count];
	window->elapsed_s = 0;
	window->samples = calloc(trace->rank_count, sizeof(*window->samples));
	window->owner = malloc(trace->topology.cpu_count * sizeof(*window->owner));
	if (!window->samples || !window->owner) {
		free(window->samples);
		free(window->owner);
		return NULL;
	}
	for (unsigned int cpu = 0; cpu < trace->topology.cpu_count; cpu++)
		window->owner[cpu] = trace->rank_count;
	trace->window_count++;
	return window;
}

void mal_trace_destroy(struct mal_trace *trace)
{
	for (size_t i = 0; i < trace->window_count; i++) {
		free(trace->windows[i].samples);
		free(trace->windows[i].owner);
	}
	free(trace->windows);
	free(trace->cpu);
	memset(trace, 0, sizeof(*trace));
}

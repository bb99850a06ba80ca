/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace.c: a trace in memory.
 *
 * Invariant: a trace that is written anew is the same (t/unit/test_trace.c; t/t3003-replay.t).
 */
#include "libmalleable/trace/trace.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Equal parts of the CPUs for each rank. */
static void divide(struct mal_trace *trace)
{
	unsigned int cpus = trace->topology.cpu_count;

	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		trace->parts[cpu] = (unsigned int)((uint64_t)cpu * trace->rank_count / cpus);
}

static int make_places(struct mal_trace *trace, unsigned int cpu_count, struct mal_error *err)
{
	unsigned int *arrays = calloc(5 * (size_t)cpu_count, sizeof(*arrays));

	if (!arrays)
		return mal_fail(err, "out of memory for a trace");
	free(trace->cpu);
	trace->cpu = arrays;
	trace->l3 = arrays + cpu_count;
	trace->numa = trace->l3 + cpu_count;
	trace->package = trace->numa + cpu_count;
	trace->parts = trace->package + cpu_count;
	trace->topology =
		(struct mal_topology){cpu_count, trace->l3, trace->numa, trace->package, NULL};
	for (unsigned int cpu = 0; cpu < cpu_count; cpu++)
		trace->cpu[cpu] = cpu;
	divide(trace);
	return 0;
}

int mal_trace_create(struct mal_trace *trace, unsigned int rank_count, unsigned int cpu_count,
		     struct mal_error *err)
{
	memset(trace, 0, sizeof(*trace));
	trace->rank_count = rank_count;
	trace->others = (struct mal_others_parts){NAN, NAN};
	trace->samples = calloc(rank_count, sizeof(*trace->samples));
	if (!trace->samples)
		return mal_fail(err, "out of memory for a trace");
	return make_places(trace, cpu_count, err);
}

int mal_trace_add_ranks(struct mal_trace *trace, unsigned int rank_count, struct mal_error *err)
{
	struct mal_sample *samples = realloc(trace->samples, rank_count * sizeof(*samples));

	if (!samples)
		return mal_fail(err, "out of memory for a trace");
	trace->samples = samples;
	/* In the windows so far a CPU without an owner has the number of ranks. */
	for (size_t i = 0; i < trace->window_count; i++) {
		unsigned int *owner = (unsigned int *)trace->windows[i].owner;

		for (unsigned int cpu = 0; cpu < trace->topology.cpu_count; cpu++)
			if (owner[cpu] == trace->rank_count)
				owner[cpu] = rank_count;
	}
	trace->rank_count = rank_count;
	divide(trace);
	return 0;
}

int mal_trace_change_cpus(struct mal_trace *trace, unsigned int cpu_count, struct mal_error *err)
{
	if (make_places(trace, cpu_count, err) < 0)
		return -1;
	for (size_t i = 0; i < trace->window_count; i++)
		trace->windows[i].owner = trace->parts;
	return 0;
}

/* One allocation: samples, then ranks, then owners. */
static bool fill(struct mal_trace_window *window, const struct mal_trace *trace,
		 const struct mal_sample *samples, const unsigned int *owner)
{
	size_t cpus = trace->topology.cpu_count;
	unsigned int *ranks, count = 0;

	for (unsigned int rank = 0; rank < trace->rank_count; rank++)
		count += samples[rank].running;
	*window = (struct mal_trace_window){.count = count};
	window->kept = malloc(count * (sizeof(*samples) + sizeof(*ranks)) + cpus * sizeof(*owner));
	if (!window->kept)
		return false;
	window->ranks = ranks = (unsigned int *)(window->kept + count);
	window->owner = memcpy(ranks + count, owner, cpus * sizeof(*owner));
	for (unsigned int rank = 0, i = 0; rank < trace->rank_count; rank++) {
		if (!samples[rank].running)
			continue;
		window->kept[i] = samples[rank];
		ranks[i++] = rank;
	}
	return true;
}

struct mal_trace_window *mal_trace_add_window(struct mal_trace *trace,
					      const struct mal_sample *samples,
					      const unsigned int *owner)
{
	size_t count = trace->window_count;

	/* Capacity doubles at powers of two. */
	if ((count & (count - 1)) == 0) {
		struct mal_trace_window *windows =
			realloc(trace->windows, (count ? 2 * count : 1) * sizeof(*windows));

		if (!windows)
			return NULL;
		trace->windows = windows;
	}
	if (!fill(&trace->windows[count], trace, samples, owner))
		return NULL;
	return &trace->windows[trace->window_count++];
}

const struct mal_sample *mal_trace_samples(const struct mal_trace *trace,
					   const struct mal_trace_window *window)
{
	memset(trace->samples, 0, trace->rank_count * sizeof(*trace->samples));
	for (unsigned int i = 0; i < window->count; i++)
		trace->samples[window->ranks[i]] = window->kept[i];
	return trace->samples;
}

void mal_trace_destroy(struct mal_trace *trace)
{
	for (size_t i = 0; i < trace->window_count; i++)
		free(trace->windows[i].kept);
	free(trace->windows);
	free(trace->samples);
	free(trace->cpu);
	memset(trace, 0, sizeof(*trace));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recording.c: the step's trace, as it is written. */
#include "libmalleable/controller/load/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/allocation.h"
#include "libmalleable/controller/load/busy_cpus.h"
#include "libmalleable/controller/load/region_totals.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/trace/trace.h"

/* What is not used is not touched, and takes no memory. */
struct mal_recording {
	struct mal_trace_writer *writer;
	bool tried;		    /* to open the file */
	struct mal_error err, note; /* NOTE: it is in a file of its own */
	/* By rank, what its named regions had counted in the last window. */
	uint64_t before[MAL_MAX_RANKS][MAL_NAMED_REGIONS][MAL_REGION_COUNTS];
	struct mal_trace_region regions[MAL_TRACE_REGIONS]; /* of the present one */
	/* By rank and CPU: ticks that are in windows so far, or before the present one. */
	uint64_t told[MAL_MAX_RANKS * MAL_MAX_CPUS];
	unsigned int owned[MAL_MAX_CPUS];
	struct mal_trace_borrowed borrowed[MAL_TRACE_BORROWED];
	/* By rank, its pages on each NUMA node, as the file has them. */
	uint32_t on_nodes[MAL_MAX_RANKS][MAL_NODES];
	struct mal_trace_pages pages[MAL_MAX_RANKS * MAL_NODES]; /* of the present window */
};

int mal_recording_open(struct mal_controller *controller)
{
	if (!controller->step->arguments.trace_file)
		return 0;
	controller->recording = calloc(1, sizeof(*controller->recording));
	return controller->recording ? 0 : -1;
}

/*
 * One more than the last rank that came: without Slurm nobody knows how many will come, and the
 * segment has room for one on each CPU.
 */
static unsigned int ranks_that_came(const struct mal_controller *controller)
{
	unsigned int count = controller->step->segment.rank_count;

	while (count > 1 && !controller->ranks[count - 1].known)
		count--;
	return count;
}

static void open_file(struct mal_controller *controller)
{
	struct mal_topology places = mal_allocation_topology(controller);
	const struct mal_arguments *arguments = &controller->step->arguments;
	const char *path = arguments->trace_file;
	char own[4096];
	struct mal_trace trace;
	FILE *file;

	controller->recording->tried = true;
	if (mal_trace_create(&trace, ranks_that_came(controller), controller->step->cpu_count,
			     &controller->recording->err) < 0)
		return;
	snprintf(trace.step, sizeof(trace.step), "%s", arguments->step);
	snprintf(trace.node, sizeof(trace.node), "%s", arguments->node);
	snprintf(trace.policy, sizeof(trace.policy), "%s", controller->deciding.policy->name);
	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		trace.cpu[i] = controller->step->cpu[i];
		trace.l3[i] = places.l3[i];
		trace.numa[i] = places.numa[i];
		trace.package[i] = places.package[i];
	}
	file = mal_file_claim(&path, controller->step->derived[MAL_FILE_TRACE], "trace",
			      &controller->step->writer, own, sizeof(own),
			      &controller->recording->note);
	if (file)
		controller->recording->writer =
			mal_trace_open(file, path, &trace, &controller->recording->err);
	mal_trace_destroy(&trace);
}

/* A window begins: what ranks did before is in none. */
void mal_recording_skip(struct mal_controller *controller)
{
	struct mal_recording *recording = controller->recording;
	uint64_t *told;

	if (!recording)
		return;
	told = recording->told;
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		for (unsigned int i = 0; i < controller->step->cpu_count; i++)
			*told++ = mal_lane_read(controller, rank, controller->step->cpu[i]);
}

/*
 * For which part of a window, in thousandths, a CPU was busy so that it was so for NOW ticks so
 * far, of which *TOLD are known. What is rounded off, or did not fit, counts in the next window,
 * and in no further one: a CPU that a rank does not use any more must not look used.
 */
static unsigned int part_of(uint64_t now, uint64_t *told, uint64_t window)
{
	uint64_t part;

	if ((int64_t)(now - *told) <= 0 || !window)
		return 0;
	if (now - *told > 2 * window)
		*told = now - 2 * window;
	now -= *told;
	part = now < window ? (now * 1000 + window / 2) / window : 1000;
	*told += part < 1000 ? part * window / 1000 : now < window ? now : window;
	return (unsigned int)part;
}

/* How busy CPUs were since the last window. */
static void read_busy(struct mal_controller *controller, const struct mal_window *window,
		      struct mal_trace_resources *resources)
{
	struct mal_recording *recording = controller->recording;
	uint64_t *told = recording->told, ticks = mal_s_to_ticks(window->elapsed_s);
	size_t count = 0;

	memset(recording->owned, 0, sizeof(recording->owned));
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		for (unsigned int i = 0; i < controller->step->cpu_count; i++, told++) {
			uint64_t now = mal_lane_read(controller, rank, controller->step->cpu[i]);
			unsigned int part;

			if (window->owner[i] != rank && count == MAL_TRACE_BORROWED)
				continue;
			part = part_of(now, told, ticks);
			if (window->owner[i] == rank)
				recording->owned[i] = part;
			else if (part)
				recording->borrowed[count++] =
					(struct mal_trace_borrowed){i, rank, part};
		}
	resources->busy = recording->owned;
	resources->borrowed = recording->borrowed;
	resources->borrowed_count = count;
}

/* Where pages of RANK are, if that is elsewhere than when it was last written: into PAGES. */
static size_t add_pages(const struct mal_lanes *lanes, unsigned int rank, uint32_t told[MAL_NODES],
			struct mal_trace_pages *pages)
{
	bool changed = false;
	size_t count = 0;

	for (unsigned int node = 0; node < MAL_NODES; node++) {
		uint32_t on = atomic_load(&lanes->pages[node]);

		/* What a rank wrote may be anything. */
		on = on < MAL_TRACE_PAGES_MAX ? on : MAL_TRACE_PAGES_MAX;
		changed |= on != told[node];
		told[node] = on;
		if (on)
			pages[count++] = (struct mal_trace_pages){rank, node, on};
	}
	return changed ? count : 0;
}

static void read_pages(const struct mal_controller *controller,
		       struct mal_trace_resources *resources)
{
	struct mal_recording *recording = controller->recording;
	size_t count = 0;

	for (unsigned int rank = 0; rank < ranks_that_came(controller); rank++) {
		const struct mal_lanes *lanes = mal_lanes_of(&controller->step->segment, rank);

		if (controller->step->choice.keys.pages && atomic_load(&lanes->pages_known))
			count += add_pages(lanes, rank, recording->on_nodes[rank],
					   &recording->pages[count]);
	}
	resources->pages = recording->pages;
	resources->pages_count = count;
}

/* Seconds of WHAT that were counted since the last window. */
static double since(const struct mal_region_slot *slot, uint64_t before[MAL_REGION_COUNTS],
		    enum mal_region_count what, double most_s)
{
	uint64_t now = atomic_load(&slot->sum[what]);
	double seconds = (int64_t)(now - before[what]) > 0
				 ? mal_sampling_span(now, before[what], most_s)
				 : 0;

	before[what] = now;
	return seconds;
}

/* What the ranks did in named regions since the last window. Returns in how many of them. */
static size_t read_regions(struct mal_controller *controller, const struct mal_window *window)
{
	struct mal_recording *recording = controller->recording;
	double most_s = mal_ticks_to_s(mal_ticks() - controller->step->started), elapsed_s;
	struct mal_named at = {.rank = 0};
	size_t count = 0;

	while (mal_named_next(controller, &at)) {
		struct mal_trace_region *region;
		uint64_t *before;

		if (!window->samples[at.rank].running)
			continue;
		region = &recording->regions[count];
		before = recording->before[at.rank][at.number];
		elapsed_s = since(at.slot, before, MAL_REGION_ELAPSED, most_s);
		*region = (struct mal_trace_region){
			.rank = at.rank,
			.elapsed_s = elapsed_s,
			.work_s = since(at.slot, before, MAL_REGION_WORK,
					elapsed_s * controller->step->cpu_count),
			.serial_s = since(at.slot, before, MAL_REGION_SERIAL, elapsed_s),
			.mpi_s = since(at.slot, before, MAL_REGION_MPI, elapsed_s)};
		memcpy(region->name, at.name, sizeof(region->name));
		count += elapsed_s > 0 && count + 1 < MAL_TRACE_REGIONS;
	}
	return count;
}

void mal_recording_window(struct mal_controller *controller, const struct mal_window *window)
{
	struct mal_trace_resources resources;
	size_t count;

	if (controller->recording && !controller->recording->tried)
		open_file(controller);
	if (!controller->recording || !controller->recording->writer)
		return;
	mal_trace_write_ranks(controller->recording->writer, ranks_that_came(controller));
	count = read_regions(controller, window);
	read_busy(controller, window, &resources);
	read_pages(controller, &resources);
	mal_trace_write_window(controller->recording->writer, window->at_s, window->elapsed_s,
			       window->samples, window->owner, controller->plausibility.parts,
			       &resources, controller->recording->regions, count);
}

void mal_recording_plan(struct mal_controller *controller, const struct mal_plan *plan,
			const char *why)
{
	if (controller->recording && controller->recording->writer)
		mal_trace_write_plan(controller->recording->writer, plan, why);
}

int mal_recording_end(struct mal_controller *controller, struct mal_error *err)
{
	struct mal_recording *recording = controller->recording;
	int result = 0;

	if (!recording)
		return 0;
	if (*recording->note.text)
		result = mal_fail(err, "%s", recording->note.text);
	if (*recording->err.text)
		result = mal_fail(err, "%s", recording->err.text);
	if (mal_trace_close(recording->writer, err) < 0)
		result = -1;
	free(recording);
	controller->recording = NULL;
	return result;
}

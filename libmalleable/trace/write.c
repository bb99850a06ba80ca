/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * write.c: write a trace as JSON lines.
 *
 * Invariant: what cannot be written is told, and harms nothing (t/t3003-replay.t).
 */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/json_number.h"
#include "libmalleable/base/output.h"
#include "libmalleable/trace/trace.h"

struct mal_trace_writer {
	FILE *file;
	char *path;
	unsigned int rank_count;
	unsigned int cpu_count;
	bool failed;
};

/* Numbers below LIMIT; -1: others. */
static json_t *numbers(const unsigned int *values, unsigned int count, unsigned int limit)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < count; i++)
		json_array_append_new(list,
				      json_integer(values[i] < limit ? (json_int_t)values[i] : -1));
	return list;
}

/* Write LINE and release it. */
static void write_line(struct mal_trace_writer *writer, json_t *line)
{
	if (!line || json_dumpf(line, writer->file, JSON_COMPACT | JSON_REAL_PRECISION(9)) < 0 ||
	    fputc('\n', writer->file) == EOF)
		writer->failed = true;
	json_decref(line);
}

struct mal_trace_writer *mal_trace_open(FILE *file, const char *path, const struct mal_trace *trace,
					struct mal_error *err)
{
	struct mal_trace_writer *writer = calloc(1, sizeof(*writer));
	const struct mal_topology *topology = &trace->topology;

	if (writer)
		writer->path = strdup(path);
	if (!writer || !writer->path) {
		mal_fail(err, "out of memory for a trace");
		free(writer);
		fclose(file);
		return NULL;
	}
	writer->file = file;
	writer->rank_count = trace->rank_count;
	writer->cpu_count = topology->cpu_count;
	write_line(writer,
		   json_pack("{s:s, s:i, s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o}", "type", "step",
			     "version", MAL_TRACE_VERSION, "step", trace->step, "node", trace->node,
			     "policy", trace->policy, "ranks", (int)trace->rank_count, "cpus",
			     numbers(trace->cpu, topology->cpu_count, UINT_MAX), "l3",
			     numbers(topology->l3, topology->cpu_count, UINT_MAX), "numa",
			     numbers(topology->numa, topology->cpu_count, UINT_MAX), "package",
			     numbers(topology->package, topology->cpu_count, UINT_MAX)));
	return writer;
}

void mal_trace_write_ranks(struct mal_trace_writer *writer, unsigned int rank_count)
{
	if (rank_count <= writer->rank_count)
		return;
	writer->rank_count = rank_count;
	write_line(writer, json_pack("{s:s, s:i}", "type", "ranks", "ranks", (int)rank_count));
}

/* Those of RANK among the COUNT REGIONS, of which *AT is the first that is not of a rank before. */
static json_t *regions_of(unsigned int rank, const struct mal_trace_region *regions, size_t count,
			  size_t *at)
{
	json_t *object = NULL;

	while (*at < count && regions[*at].rank < rank)
		++*at;
	for (; *at < count && regions[*at].rank == rank; ++*at) {
		const struct mal_trace_region *region = &regions[*at];

		object = object ? object : json_object();
		json_object_set_new(object, region->name,
				    json_pack("[f, f, f, f]", region->elapsed_s, region->work_s,
					      region->serial_s, region->mpi_s));
	}
	return object;
}

#define NUMBERS(type) (sizeof(struct type) / sizeof(unsigned int))
_Static_assert(NUMBERS(mal_trace_borrowed) == 3 && NUMBERS(mal_trace_pages) == 3,
	       "both are three numbers, as read.c takes them");

/* COUNT of three numbers each, in one list: each of its parts would be one that readers count. */
static json_t *triples(const void *of_three, size_t count)
{
	return count ? numbers(of_three, (unsigned int)(3 * count), UINT_MAX) : NULL;
}

void mal_trace_write_window(struct mal_trace_writer *writer, double at_s, double elapsed_s,
			    const struct mal_sample *samples, const unsigned int *owner,
			    struct mal_others_parts others,
			    const struct mal_trace_resources *resources,
			    const struct mal_trace_region *regions, size_t count)
{
	static const struct mal_trace_resources nothing;
	const struct mal_trace_resources *had = resources ? resources : &nothing;
	json_t *ranks = json_array();
	size_t at = 0;

	for (unsigned int rank = 0; rank < writer->rank_count; rank++) {
		const struct mal_sample *sample = &samples[rank];

		if (!sample->running)
			continue;
		json_array_append_new(
			ranks,
			json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:i, s:i, s:f, s:o*}",
				  "rank", (int)rank, "elapsed_s", sample->elapsed_s, "work_s",
				  sample->work_s, "serial_s", sample->serial_s, "mpi_s",
				  sample->mpi_s, "barrier_s", sample->barrier_s, "region_s",
				  sample->region_s, "cpus", (int)sample->cpus, "most",
				  (int)sample->max, "team", (int)sample->team, "phases",
				  sample->phases, "regions",
				  regions_of(rank, regions, count, &at)));
	}
	write_line(writer,
		   json_pack("{s:s, s:f, s:f, s:o, s:o, s:o, s:o*, s:o*, s:o*, s:o}", "type",
			     "window", "at_s", at_s, "elapsed_s", elapsed_s, "others_part",
			     mal_json_number(others.used), "taken_part",
			     mal_json_number(others.taken), "owner",
			     numbers(owner, writer->cpu_count, writer->rank_count), "busy",
			     had->busy ? numbers(had->busy, writer->cpu_count, UINT_MAX) : NULL,
			     "borrowed", triples(had->borrowed, had->borrowed_count), "pages",
			     triples(had->pages, had->pages_count), "ranks", ranks));
}

void mal_trace_write_plan(struct mal_trace_writer *writer, const struct mal_plan *plan,
			  const char *why)
{
	json_t *line = json_pack("{s:s, s:b, s:b, s:b, s:b, s:o, s:o}", "type", "plan", "bind",
				 plan->bind, "lend", plan->lend, "grow", plan->grow, "move",
				 plan->move, "now_s", mal_json_number(plan->now_s), "forecast_s",
				 mal_json_number(plan->forecast_s));

	if (plan->move) {
		json_object_set_new(line, "count",
				    numbers(plan->count, writer->rank_count, UINT_MAX));
		json_object_set_new(line, "owner",
				    numbers(plan->owner, writer->cpu_count, writer->rank_count));
	}
	if (why)
		json_object_set_new(line, "rejected", json_string(why));
	write_line(writer, line);
}

int mal_trace_close(struct mal_trace_writer *writer, struct mal_error *err)
{
	int result = 0;

	if (!writer)
		return 0;
	result = mal_output_close(writer->file, writer->path, "trace", err);
	if (result == 0 && writer->failed)
		result = mal_fail(err, "cannot write the trace to %s", writer->path);
	free(writer->path);
	free(writer);
	return result;
}

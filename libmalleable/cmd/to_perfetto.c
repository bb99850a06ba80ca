/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * to_perfetto.c: a trace as trace events of Chrome (JSON), which ui.perfetto.dev and
 * chrome://tracing read.
 *
 * Process 1 has a thread for each rank, with its windows and, in them, computing and MPI: how long
 * is measured, when in the window is not. Process 2 has one for each CPU, with the rank that owns
 * it. Counters say how many CPUs a rank owns, and how many worked for it.
 */
#include <jansson.h>

#include "libmalleable/cmd/formats.h"

enum { RANKS = 1, CPUS = 2 };

static void write_event(FILE *out, json_t *event)
{
	fputs(",\n", out);
	if (event)
		json_dumpf(event, out, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(event);
}

static void name_thread(FILE *out, int process, unsigned int thread, const char *what,
			unsigned int number)
{
	char name[32];

	snprintf(name, sizeof(name), "%s %u", what, number);
	write_event(out,
		    json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "ph", "M", "name", "thread_name",
			      "pid", process, "tid", (int)thread, "args", "name", name));
}

static void name_process(FILE *out, int process, const char *name)
{
	write_event(out, json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "ph", "M", "name",
				   "process_name", "pid", process, "tid", 0, "args", "name", name));
}

/* ARGS: the event's own reference, or NULL. */
static void write_slice(FILE *out, int process, unsigned int thread, const char *name,
			double begin_s, double length_s, json_t *args)
{
	write_event(out, json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:o*}", "ph", "X", "name", name,
				   "pid", process, "tid", (int)thread, "ts", begin_s * 1e6, "dur",
				   length_s * 1e6, "args", args));
}

static void write_counter(FILE *out, const char *what, unsigned int rank, double at_s, double value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s rank %u", what, rank);
	write_event(out, json_pack("{s:s, s:s, s:i, s:f, s:{s:f}}", "ph", "C", "name", name, "pid",
				   RANKS, "ts", at_s * 1e6, "args", "CPUs", value));
}

/* The rank at INDEX among those that ran. */
static void write_rank(FILE *out, const struct mal_trace_window *window, size_t number,
		       unsigned int index)
{
	const struct mal_sample *sample = &window->kept[index];
	unsigned int rank = window->ranks[index];
	double begin_s = mal_window_begin(window), elapsed_s = window->elapsed_s;
	double mpi_s = sample->mpi_s < elapsed_s ? sample->mpi_s : elapsed_s;

	write_slice(out, RANKS, rank, "window", begin_s, elapsed_s,
		    json_pack("{s:I, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "window",
			      (json_int_t)number, "cpus", (int)sample->cpus, "team",
			      (int)sample->team, "phases", sample->phases, "work_s", sample->work_s,
			      "serial_s", sample->serial_s, "mpi_s", sample->mpi_s, "barrier_s",
			      sample->barrier_s, "region_s", sample->region_s));
	if (elapsed_s > mpi_s)
		write_slice(out, RANKS, rank, "computing", begin_s, elapsed_s - mpi_s, NULL);
	if (mpi_s > 0)
		write_slice(out, RANKS, rank, "MPI", window->end_s - mpi_s, mpi_s, NULL);
	write_counter(out, "CPUs of", rank, begin_s, sample->cpus);
	write_counter(out, "CPUs at work for", rank, begin_s,
		      elapsed_s > 0 ? (sample->work_s + sample->serial_s) / elapsed_s : 0);
}

/* Who owns CPU number INDEX: a slice for as long as that stays the same. */
static void write_cpu(FILE *out, const struct mal_trace *trace, unsigned int index)
{
	size_t next;

	for (size_t from = 0; from < trace->window_count; from = next) {
		unsigned int owner = trace->windows[from].owner[index];
		double begin_s = mal_window_begin(&trace->windows[from]);
		char name[32];

		for (next = from + 1;
		     next < trace->window_count && trace->windows[next].owner[index] == owner;
		     next++)
			;
		if (owner >= trace->rank_count)
			continue;
		snprintf(name, sizeof(name), "rank %u", owner);
		write_slice(out, CPUS, trace->cpu[index], name, begin_s,
			    trace->windows[next - 1].end_s - begin_s, NULL);
	}
}

void mal_to_perfetto(FILE *out, const struct mal_trace *trace)
{
	json_t *facts = json_pack("{s:s, s:s, s:s}", "step", trace->step, "node", trace->node,
				  "policy", trace->policy);

	fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":", out);
	if (facts)
		json_dumpf(facts, out, JSON_COMPACT);
	json_decref(facts);
	fputs(",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,\"tid\":0,"
	      "\"args\":{\"labels\":\"malleable\"}}",
	      out);
	name_process(out, RANKS, "ranks");
	name_process(out, CPUS, "CPUs and the ranks that own them");
	for (unsigned int rank = 0; rank < trace->rank_count; rank++)
		name_thread(out, RANKS, rank, "rank", rank);
	for (unsigned int i = 0; i < trace->topology.cpu_count; i++)
		name_thread(out, CPUS, trace->cpu[i], "CPU", trace->cpu[i]);
	for (size_t i = 0; i < trace->window_count; i++)
		for (unsigned int k = 0; k < trace->windows[i].count; k++)
			write_rank(out, &trace->windows[i], i + 1, k);
	for (unsigned int i = 0; i < trace->topology.cpu_count; i++)
		write_cpu(out, trace, i);
	fputs("\n]}\n", out);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * to_paraver.c: a trace for Paraver (https://tools.bsc.es/paraver): one application, a task of one
 * thread for each rank, on one node.
 *
 * In each window a rank computes, then is in MPI: how long is measured, when in the window is not.
 * Events at a window's begin are its figures.
 */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "libmalleable/cmd/formats.h"

enum { COMPUTING = 1, IN_MPI = 2 };

/* Types of events; times are in microseconds. */
#define TYPE 90001000u
static const char *const types[] = {
	"CPUs that the rank owns",
	"Work of all its threads (us)",
	"Serial work (us)",
	"In MPI (us)",
	"Idle in parallel regions (us)",
	"Threads",
};
#define TYPES (sizeof(types) / sizeof(types[0]))

struct state {
	unsigned int rank, cpu;
	long long begin, end;
};

static long long ns(double seconds)
{
	return llround(seconds * 1e9);
}

/* The number from 1 on of a CPU that RANK owns; 0: none. */
static unsigned int cpu_of(const struct mal_trace *trace, const struct mal_trace_window *window,
			   unsigned int rank)
{
	for (unsigned int i = 0; i < trace->topology.cpu_count; i++)
		if (window->owner[i] == rank)
			return i + 1;
	return 0;
}

static void write_figures(FILE *out, const struct mal_sample *sample, unsigned int rank,
			  unsigned int cpu, long long begin)
{
	const long long values[TYPES] = {
		sample->cpus,
		llround(sample->work_s * 1e6),
		llround(sample->serial_s * 1e6),
		llround(sample->mpi_s * 1e6),
		llround(sample->barrier_s * 1e6),
		sample->team,
	};

	fprintf(out, "2:%u:1:%u:1:%lld", cpu, rank + 1, begin);
	for (size_t i = 0; i < TYPES; i++)
		fprintf(out, ":%u:%lld", TYPE + (unsigned int)i, values[i]);
	fputc('\n', out);
}

static void write_state(FILE *out, const struct state *state, int kind)
{
	if (state->end > state->begin)
		fprintf(out, "1:%u:1:%u:1:%lld:%lld:%d\n", state->cpu, state->rank + 1,
			state->begin, state->end, kind);
}

static int by_begin(const void *a, const void *b)
{
	const struct state *left = a, *right = b;

	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	return left->rank < right->rank ? -1 : 1;
}

/*
 * Records are to be in the order of their times. WAITING has room for all ranks; BEGIN is the end
 * of the window before, if that rounds to more than ours begins with. Returns the window's end.
 */
static long long write_window(FILE *out, const struct mal_trace *trace,
			      const struct mal_trace_window *window, struct state *waiting,
			      long long begin)
{
	long long own = ns(mal_window_begin(window)), end = ns(window->end_s);

	begin = own > begin ? own : begin;
	for (unsigned int i = 0; i < window->count; i++) {
		const struct mal_sample *sample = &window->kept[i];
		unsigned int rank = window->ranks[i], cpu = cpu_of(trace, window, rank);
		long long middle = end - ns(sample->mpi_s);

		middle = middle > begin ? middle : begin;
		write_figures(out, sample, rank, cpu, begin);
		write_state(out, &(struct state){rank, cpu, begin, middle}, COMPUTING);
		waiting[i] = (struct state){rank, cpu, middle, end};
	}
	qsort(waiting, window->count, sizeof(*waiting), by_begin);
	for (size_t i = 0; i < window->count; i++)
		write_state(out, &waiting[i], IN_MPI);
	return end;
}

void mal_to_paraver(FILE *out, const struct mal_trace *trace)
{
	const struct mal_trace_window *last = &trace->windows[trace->window_count - 1];
	struct state *waiting = calloc(trace->rank_count, sizeof(*waiting));
	time_t now = time(NULL);
	long long end = 0;
	struct tm date = {.tm_mday = 1};
	char when[32] = "";

	gmtime_r(&now, &date);
	strftime(when, sizeof(when), "%d/%m/%Y at %H:%M", &date);
	fprintf(out, "#Paraver (%s):%lld_ns:1(%u):1:%u(", when, ns(last->end_s),
		trace->topology.cpu_count, trace->rank_count);
	for (unsigned int rank = 0; rank < trace->rank_count; rank++)
		fprintf(out, "%s1:1", rank ? "," : "");
	fputs(")\n", out);
	for (size_t i = 0; waiting && i < trace->window_count; i++)
		end = write_window(out, trace, &trace->windows[i], waiting, end);
	free(waiting);
}

void mal_to_paraver_names(FILE *out, const struct mal_trace *trace)
{
	(void)trace;
	fputs("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\n"
	      "STATES\n0    Idle\n1    Computing\n2    In MPI\n\n"
	      "STATES_COLOR\n0    {117,195,255}\n1    {0,0,255}\n2    {255,146,24}\n",
	      out);
	for (size_t i = 0; i < TYPES; i++)
		fprintf(out, "\nEVENT_TYPE\n0    %u    %s\n", TYPE + (unsigned int)i, types[i]);
}

void mal_to_paraver_rows(FILE *out, const struct mal_trace *trace)
{
	fprintf(out, "LEVEL CPU SIZE %u\n", trace->topology.cpu_count);
	for (unsigned int i = 0; i < trace->topology.cpu_count; i++)
		fprintf(out, "CPU %u\n", trace->cpu[i]);
	fprintf(out, "\nLEVEL NODE SIZE 1\n%s\n\nLEVEL THREAD SIZE %u\n",
		*trace->node ? trace->node : "node", trace->rank_count);
	for (unsigned int rank = 0; rank < trace->rank_count; rank++)
		fprintf(out, "rank %u\n", rank);
}

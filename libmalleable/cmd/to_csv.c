/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* to_csv.c: a trace as comma-separated values. */
#include "libmalleable/base/cpumask.h"
#include "libmalleable/cmd/formats.h"

/* The CPUs that RANK owns, as their numbers on the node. */
static const char *owned(const struct mal_trace *trace, const struct mal_trace_window *window,
			 unsigned int rank, char *text, size_t size)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int i = 0; i < trace->topology.cpu_count; i++)
		if (window->owner[i] == rank && trace->cpu[i] < MAL_MAX_CPUS)
			mal_cpumask_add(&mask, trace->cpu[i]);
	return mal_cpumask_format(&mask, text, size);
}

void mal_to_csv(FILE *out, const struct mal_trace *trace)
{
	char cpus[MAL_CPUMASK_TEXT];

	fputs("window,begin_s,end_s,rank,cpus,cpu_list,team,most,phases,work_s,serial_s,mpi_s,"
	      "barrier_s,region_s\n",
	      out);
	for (size_t i = 0; i < trace->window_count; i++) {
		const struct mal_trace_window *window = &trace->windows[i];

		for (unsigned int k = 0; k < window->count; k++) {
			const struct mal_sample *sample = &window->kept[k];
			unsigned int rank = window->ranks[k];

			fprintf(out,
				"%zu,%.9f,%.9f,%u,%u,\"%s\",%u,%u,%.9g,%.9f,%.9f,%.9f,%.9f,%.9f\n",
				i + 1, mal_window_begin(window), window->end_s, rank, sample->cpus,
				owned(trace, window, rank, cpus, sizeof(cpus)), sample->team,
				sample->max, sample->phases, sample->work_s, sample->serial_s,
				sample->mpi_s, sample->barrier_s, sample->region_s);
		}
	}
}

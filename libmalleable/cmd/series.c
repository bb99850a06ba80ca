/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* series.c: a trace made small enough for a picture. */
#include "libmalleable/cmd/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned int count_cpus(const struct mal_trace *trace, const struct mal_trace_window *window)
{
	unsigned int owned = 0;

	for (unsigned int i = 0; i < trace->topology.cpu_count; i++)
		owned += window->owner[i] < trace->rank_count;
	return owned ? owned : 1;
}

static void add_rank(struct mal_series_rank *sum, const struct mal_sample *sample, bool is_first)
{
	if (is_first)
		sum->cpus_first = sample->cpus;
	sum->cpus_last = sample->cpus;
	sum->work_s += sample->work_s;
	sum->serial_s += sample->serial_s;
	sum->mpi_s += sample->mpi_s;
	sum->barrier_s += sample->barrier_s;
}

/* Sums of column NUMBER become means of its time and of a row's ranks. */
static void scale_column(struct mal_series *series, unsigned int rank_count, size_t number,
			 double elapsed_s)
{
	for (unsigned int row = 0; row < series->rows; row++) {
		unsigned int left = rank_count - row * series->ranks_per_row;
		unsigned int in_row = left < series->ranks_per_row ? left : series->ranks_per_row;
		size_t cell = row * series->column_count + number;

		series->cpus[cell] /= elapsed_s > 0 ? elapsed_s * in_row : INFINITY;
		series->active[cell] /= elapsed_s > 0 ? elapsed_s * in_row : INFINITY;
	}
}

static void fill_column(struct mal_series *series, const struct mal_trace *trace, size_t number)
{
	struct mal_series_column *column = &series->columns[number];
	double elapsed_s = 0;

	for (size_t i = column->first; i < column->first + column->count; i++) {
		const struct mal_trace_window *window = &trace->windows[i];
		const struct mal_sample *samples = mal_trace_samples(trace, window);
		unsigned int cpus = count_cpus(trace, window);

		mal_cpu_seconds_add(&column->cpus, samples, trace->rank_count, cpus);
		mal_cpu_seconds_add(&series->all, samples, trace->rank_count, cpus);
		elapsed_s += window->elapsed_s;
		for (unsigned int k = 0; k < window->count; k++) {
			const struct mal_sample *sample = &window->kept[k];
			struct mal_series_rank *rank = &series->ranks[window->ranks[k]];
			size_t cell =
				window->ranks[k] / series->ranks_per_row * series->column_count +
				number;

			add_rank(rank, sample, rank->cpus_first == 0);
			series->cpus[cell] += window->elapsed_s * sample->cpus;
			series->active[cell] += sample->work_s + sample->serial_s;
		}
	}
	scale_column(series, trace->rank_count, number, elapsed_s);
}

static void find_max(struct mal_series *series)
{
	for (size_t i = 0; i < series->rows * series->column_count; i++) {
		if (series->cpus[i] > series->max)
			series->max = series->cpus[i];
		if (series->active[i] > series->max)
			series->max = series->active[i];
	}
}

int mal_series_make(struct mal_series *series, const struct mal_trace *trace, struct mal_error *err)
{
	unsigned int ranks = trace->rank_count;
	size_t most, each;

	memset(series, 0, sizeof(*series));
	series->ranks_per_row = (ranks + MAL_SERIES_ROWS - 1) / MAL_SERIES_ROWS;
	series->rows = (ranks + series->ranks_per_row - 1) / series->ranks_per_row;
	most = MAL_SERIES_CELLS / series->rows < 400 ? MAL_SERIES_CELLS / series->rows : 400;
	each = (trace->window_count + most - 1) / most;
	series->column_count = (trace->window_count + each - 1) / each;
	series->columns = calloc(series->column_count, sizeof(*series->columns));
	series->cpus = calloc(series->rows * series->column_count, sizeof(*series->cpus));
	series->active = calloc(series->rows * series->column_count, sizeof(*series->active));
	series->ranks = calloc(ranks, sizeof(*series->ranks));
	if (!series->columns || !series->cpus || !series->active || !series->ranks)
		return mal_fail(err, "out of memory");
	for (size_t i = 0; i < series->column_count; i++) {
		struct mal_series_column *column = &series->columns[i];
		const struct mal_trace_window *first = &trace->windows[i * each];

		column->first = i * each;
		column->count = trace->window_count - column->first < each
					? trace->window_count - column->first
					: each;
		column->begin_s = first->end_s - first->elapsed_s;
		column->end_s = first[column->count - 1].end_s;
		fill_column(series, trace, i);
	}
	find_max(series);
	return 0;
}

void mal_series_destroy(struct mal_series *series)
{
	free(series->columns);
	free(series->cpus);
	free(series->active);
	free(series->ranks);
	memset(series, 0, sizeof(*series));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* series.c: a trace made small enough for a picture. */
#include "libmalleable/cmd/series.h"

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
	if (!sample->running)
		return;
	if (is_first)
		sum->cpus_first = sample->cpus;
	sum->cpus_last = sample->cpus;
	sum->work_s += sample->work_s;
	sum->serial_s += sample->serial_s;
	sum->mpi_s += sample->mpi_s;
	sum->barrier_s += sample->barrier_s;
}

/* Add RANK's part of column NUMBER to its row. */
static void add_cell(struct mal_series *series, const struct mal_trace *trace, unsigned int rank,
		     size_t number)
{
	const struct mal_series_column *column = &series->columns[number];
	unsigned int row = rank / series->ranks_per_row, first = row * series->ranks_per_row;
	unsigned int in_row = trace->rank_count - first < series->ranks_per_row
				      ? trace->rank_count - first
				      : series->ranks_per_row;
	size_t cell = row * series->column_count + number;
	double elapsed = 0, owned = 0, useful = 0;

	for (size_t i = column->first; i < column->first + column->count; i++) {
		const struct mal_trace_window *window = &trace->windows[i];
		const struct mal_sample *sample = &window->samples[rank];

		elapsed += window->elapsed_s;
		owned += window->elapsed_s * sample->cpus;
		useful += sample->work_s + sample->serial_s;
	}
	if (elapsed <= 0)
		return;
	series->cpus[cell] += owned / elapsed / in_row;
	series->active[cell] += useful / elapsed / in_row;
}

static void fill_column(struct mal_series *series, const struct mal_trace *trace, size_t number)
{
	struct mal_series_column *column = &series->columns[number];

	for (size_t i = column->first; i < column->first + column->count; i++) {
		const struct mal_trace_window *window = &trace->windows[i];
		unsigned int cpus = count_cpus(trace, window);

		mal_cpu_seconds_add(&column->cpus, window->samples, trace->rank_count, cpus);
		mal_cpu_seconds_add(&series->all, window->samples, trace->rank_count, cpus);
		for (unsigned int rank = 0; rank < trace->rank_count; rank++)
			add_rank(&series->ranks[rank], &window->samples[rank],
				 series->ranks[rank].cpus_first == 0);
	}
	for (unsigned int rank = 0; rank < trace->rank_count; rank++)
		add_cell(series, trace, rank, number);
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

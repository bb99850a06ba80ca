/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_reader.c: read a trace from JSON lines, trusting none of them.
 *
 * Invariant: a line that makes no sense is named (t/unit/test_trace.c; t/t3003-replay.t).
 */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/input.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/trace/trace.h"

/* A line of 1024 ranks and CPUs has a third of this. */
#define LINE_MAX_BYTES ((size_t)1 << 20)
/* Objects and arrays in a line: two for each rank, one for each named region, and some. */
#define PARTS_MAX (2 * MAL_MAX_RANKS + MAL_TRACE_REGIONS + 64)
/* Longest time accepted: a year; and the shortest one that is not 0. */
#define MAX_SECONDS 3.2e7
#define MIN_SECONDS 1e-9

/* A report has this key near its beginning (controller/report/report_json.c). */
#define REPORT_KEY "\"malleable\":"
#define KIND_BYTES 256

struct reader {
	struct mal_trace *trace;
	const char *path;
	unsigned long line;
	bool strange; /* already the first line is none of a trace */
	struct mal_error *err;
};

static int wrong(const struct reader *reader, const char *what)
{
	return mal_fail(reader->err, "%s: line %lu: %s", reader->path, reader->line, what);
}

/* Texts of a trace are printed, and written to other files: whoever wrote it is not trusted. */
static void copy_text(char *to, size_t size, const json_t *from)
{
	const char *text = json_string_value(from);

	snprintf(to, size, "%s", text ? text : "");
	mal_make_printable(to, strlen(to), false);
}

/* Read COUNT numbers from MIN to below LIMIT; negative ones are stored as NONE. */
static int read_numbers(const json_t *list, unsigned int *values, unsigned int count,
			json_int_t min, json_int_t limit, unsigned int none)
{
	if (json_array_size(list) != count)
		return -1;
	for (unsigned int i = 0; i < count; i++) {
		const json_t *item = json_array_get(list, i);
		json_int_t value = json_integer_value(item);

		if (!json_is_integer(item) || value < min || value >= limit)
			return -1;
		values[i] = value < 0 ? none : (unsigned int)value;
	}
	return 0;
}

static int read_step(struct reader *reader, const json_t *line)
{
	struct mal_trace *trace = reader->trace;
	json_int_t ranks = json_integer_value(json_object_get(line, "ranks"));
	size_t cpus = json_array_size(json_object_get(line, "cpus"));
	unsigned int *places;

	if (json_integer_value(json_object_get(line, "version")) != MAL_TRACE_VERSION)
		return wrong(reader, "not a trace of version 1");
	if (ranks < 1 || ranks > MAL_MAX_RANKS || cpus < 1 || cpus > MAL_MAX_CPUS)
		return wrong(reader, "number of ranks or CPUs out of range");
	if (mal_trace_create(trace, (unsigned int)ranks, (unsigned int)cpus, reader->err) < 0)
		return -1;
	copy_text(trace->step, sizeof(trace->step), json_object_get(line, "step"));
	copy_text(trace->node, sizeof(trace->node), json_object_get(line, "node"));
	copy_text(trace->policy, sizeof(trace->policy), json_object_get(line, "policy"));
	places = trace->cpu;
	for (int level = 0; level < 4; level++) {
		static const char *const names[] = {"cpus", "l3", "numa", "package"};

		if (read_numbers(json_object_get(line, names[level]), places + level * cpus,
				 (unsigned int)cpus, 0, 1 << 24, 0) < 0)
			return wrong(reader, "the number of places is not that of CPUs");
	}
	return 0;
}

/* Ranks that came later. */
static int read_ranks(struct reader *reader, const json_t *line)
{
	json_int_t ranks = json_integer_value(json_object_get(line, "ranks"));

	if (ranks <= reader->trace->rank_count || ranks > MAL_MAX_RANKS)
		return wrong(reader, "number of ranks out of range");
	return mal_trace_add_ranks(reader->trace, (unsigned int)ranks, reader->err);
}

/* Times that no clock shows are none: what is divided by them would be no number any more. */
static bool read_seconds(const json_t *object, const char *name, double *seconds)
{
	const json_t *item = json_object_get(object, name);
	double value = json_number_value(item);

	*seconds = value < MIN_SECONDS ? 0 : value;
	return json_is_number(item) && value >= 0 && value < MAX_SECONDS;
}

static bool read_count(const json_t *object, const char *name, unsigned int *count)
{
	const json_t *item = json_object_get(object, name);
	json_int_t value = json_integer_value(item);

	*count = (unsigned int)value;
	return json_is_integer(item) && value >= 0 && value <= 65536;
}

static int read_sample(struct reader *reader, const json_t *item)
{
	unsigned int rank;
	struct mal_sample *sample;

	if (!read_count(item, "rank", &rank) || rank >= reader->trace->rank_count ||
	    reader->trace->samples[rank].running)
		return wrong(reader, "a rank does not exist, or appears twice");
	sample = &reader->trace->samples[rank];
	sample->running = true;
	if (!read_seconds(item, "elapsed_s", &sample->elapsed_s) ||
	    !read_seconds(item, "work_s", &sample->work_s) ||
	    !read_seconds(item, "serial_s", &sample->serial_s) ||
	    !read_seconds(item, "mpi_s", &sample->mpi_s) ||
	    !read_seconds(item, "barrier_s", &sample->barrier_s) ||
	    !read_seconds(item, "region_s", &sample->region_s) ||
	    !read_seconds(item, "phases", &sample->phases))
		return wrong(reader, "a rank's times are missing or out of range");
	if (!read_count(item, "cpus", &sample->cpus) || !read_count(item, "most", &sample->max) ||
	    !read_count(item, "team", &sample->team))
		return wrong(reader, "a rank's numbers are missing or out of range");
	return 0;
}

/* A part of something, from 0 to 1; null, or not there as in older traces: not known. */
static bool read_part(const json_t *object, const char *name, double *part)
{
	const json_t *item = json_object_get(object, name);

	if (!item || json_is_null(item))
		return true;
	*part = json_number_value(item);
	return json_is_number(item) && *part >= 0 && *part <= 1;
}

/* A list of MAX times three numbers below LIMIT at most, or none. */
static bool are_triples(const json_t *list, size_t max, const json_int_t limit[3])
{
	size_t count = json_array_size(list);

	if ((list && !json_is_array(list)) || count % 3 || count / 3 > max)
		return false;
	for (size_t i = 0; i < count; i++) {
		const json_t *item = json_array_get(list, i);

		if (!json_is_integer(item) || json_integer_value(item) < 0 ||
		    json_integer_value(item) >= limit[i % 3])
			return false;
	}
	return true;
}

/* How busy CPUs were: a replay does not need it. */
static bool read_busy(const struct mal_trace *trace, const json_t *line)
{
	const json_int_t limit[] = {trace->topology.cpu_count, trace->rank_count, 1001};
	const json_t *owned = json_object_get(line, "busy");
	unsigned int parts[MAL_MAX_CPUS];

	if (owned && read_numbers(owned, parts, trace->topology.cpu_count, 0, 1001, 0) < 0)
		return false;
	return are_triples(json_object_get(line, "borrowed"), MAL_TRACE_BORROWED, limit);
}

/* Nor where memory was. */
static bool read_pages(const struct mal_trace *trace, const json_t *line)
{
	const json_int_t limit[] = {trace->rank_count, MAL_TRACE_NODES, MAL_TRACE_PAGES_MAX + 1};

	return are_triples(json_object_get(line, "pages"), MAL_TRACE_PAGES, limit);
}

static int read_window(struct reader *reader, const json_t *line)
{
	const json_t *ranks = json_object_get(line, "ranks");
	struct mal_trace *trace = reader->trace;
	unsigned int owner[MAL_MAX_CPUS];
	struct mal_trace_window *window;
	double elapsed_s, at_s;
	json_t *item;
	size_t i;

	if (!read_seconds(line, "elapsed_s", &elapsed_s))
		return wrong(reader, "the window's length is missing or out of range");
	if (read_numbers(json_object_get(line, "owner"), owner, trace->topology.cpu_count, -1,
			 trace->rank_count, trace->rank_count) < 0)
		return wrong(reader, "the number of owners is not that of CPUs");
	if (!read_part(line, "others_part", &trace->others.used) ||
	    !read_part(line, "taken_part", &trace->others.taken))
		return wrong(reader, "what others used is out of range");
	if (!read_busy(trace, line))
		return wrong(reader, "how busy CPUs were is out of range");
	if (!read_pages(trace, line))
		return wrong(reader, "where pages are is out of range");
	if (!json_is_array(ranks))
		return wrong(reader, "the ranks are missing");
	memset(trace->samples, 0, trace->rank_count * sizeof(*trace->samples));
	json_array_foreach(ranks, i, item) if (read_sample(reader, item) < 0) return -1;
	window = mal_trace_add_window(trace, trace->samples, owner);
	if (!window)
		return mal_fail(reader->err, "out of memory for the trace");
	window->elapsed_s = elapsed_s;
	/* When it was written is a little later, or not known. */
	window->end_s = (window > trace->windows ? window[-1].end_s : 0) + elapsed_s;
	if (read_seconds(line, "at_s", &at_s) && at_s > window->end_s)
		window->end_s = at_s;
	return 0;
}

static int read_line(struct reader *reader, const char *text, size_t length)
{
	json_error_t why;
	json_t *line;
	const char *type;
	int result = 0;

	if (mal_input_parts(text, length) > PARTS_MAX)
		return wrong(reader, "it has too many parts");
	line = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);
	type = json_string_value(json_object_get(line, "type"));
	if (!line || !type) {
		reader->strange = reader->line == 1;
		result = wrong(reader, line ? "it has no type" : why.text);
	} else if ((reader->line == 1) != (strcmp(type, "step") == 0))
		result = wrong(reader, "the first line, and only it, describes the step");
	else if (reader->line == 1)
		result = read_step(reader, line);
	else if (strcmp(type, "window") == 0)
		result = read_window(reader, line);
	else if (strcmp(type, "ranks") == 0)
		result = read_ranks(reader, line);
	/* Skip other lines: they say what was decided then, and a replay decides anew. */
	json_decref(line);
	return result;
}

/* The next line is in TEXT, with its end; it may contain null bytes. Returns its length. */
static size_t get_line(FILE *file, char *text)
{
	size_t length = 0;

	for (int c; length < LINE_MAX_BYTES && (c = getc_unlocked(file)) != EOF;) {
		text[length++] = (char)c;
		if (c == '\n')
			break;
	}
	return length;
}

/* Which file it is that has TEXT, or that and the next lines of FILE, and no trace. */
static int name_kind(const struct reader *reader, FILE *file, char *text, size_t length)
{
	bool report;

	length += fread(text + length, 1, length < KIND_BYTES ? KIND_BYTES - length : 0, file);
	report = memmem(text, length < KIND_BYTES ? length : KIND_BYTES, REPORT_KEY,
			strlen(REPORT_KEY));
	return mal_fail(reader->err, "%s: %s no trace; --balance-trace=FILE writes one",
			reader->path,
			report ? "it is a report (of --balance-report), and" : "it is");
}

static int read_lines(struct reader *reader, FILE *file, char *text)
{
	int result = 0;
	size_t length;

	while (result == 0 && (length = get_line(file, text)) > 0) {
		reader->line++;
		reader->trace->cut = text[length - 1] != '\n';
		if (!reader->trace->cut)
			result = read_line(reader, text, length);
		else if (length == LINE_MAX_BYTES)
			result = wrong(reader, "it is too long");
		if (reader->strange)
			return name_kind(reader, file, text, length);
	}
	if (result == 0 && ferror(file))
		return mal_fail_errno(reader->err, "cannot read %s", reader->path);
	if (result == 0 && reader->trace->window_count == 0)
		return mal_fail(reader->err, "%s: it has no window", reader->path);
	return result;
}

int mal_trace_read_file(struct mal_trace *trace, FILE *file, const char *path,
			struct mal_error *err)
{
	struct reader reader = {.trace = trace, .path = path, .err = err};
	char *text = malloc(LINE_MAX_BYTES);
	int result;

	memset(trace, 0, sizeof(*trace));
	result =
		text ? read_lines(&reader, file, text) : mal_fail(err, "out of memory for a trace");
	free(text);
	return result;
}

int mal_trace_read(struct mal_trace *trace, const char *path, struct mal_error *err)
{
	FILE *file = mal_input_open(AT_FDCWD, path, path, err);
	int result;

	memset(trace, 0, sizeof(*trace));
	if (!file)
		return -1;
	result = mal_trace_read_file(trace, file, path, err);
	fclose(file);
	return result;
}

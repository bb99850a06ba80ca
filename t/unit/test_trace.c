/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_trace.c: traces are read as they were written, and nothing in them is trusted. */
#include "t/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/trace/places.h"
#include "libmalleable/trace/trace.h"

static char path[] = "/tmp/test-trace.XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_text(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static bool has_text(const char *part)
{
	char text[8192];
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return strstr(text, part) != NULL;
}

static void read_as_written(void **state)
{
	struct mal_trace trace, again;
	const struct mal_sample samples[2] = {
		[1] = {true, 0.25, 0.5, 0.001, 0.1, 0.2, 0.01, 3, 8, 4, 2}};
	const unsigned int owner[4] = {2, 1, 2, 2};
	const struct mal_trace_region regions[3] = {{0, "of none that ran", 1, 1, 1, 1},
						    {1, "io", 0.25, 0, 0.25, 0},
						    {1, "solve \"x\"", 0.125, 0.5, 0, 0}};
	const struct mal_trace_borrowed borrowed[2] = {{0, 1, 7}, {2, 0, 1000}};
	const struct mal_trace_pages pages[2] = {{0, 1, 1024}, {1, 13, 65536}};
	const struct mal_trace_resources resources = {(const unsigned int[]){0, 1000, 0, 0},
						      borrowed, 2, pages, 2};
	struct mal_trace_writer *writer;
	struct mal_error err;

	(void)state;
	assert_int_equal(mal_trace_create(&trace, 2, 4, &err), 0);
	strcpy(trace.step, "7.0");
	trace.l3[3] = 5;
	trace.package[2] = 1;
	writer = mal_trace_open(fopen(path, "w"), path, &trace, &err);
	assert_non_null(writer);
	mal_trace_write_window(writer, 1, 0.25, samples, owner,
			       (struct mal_others_parts){0.5, 0.25}, &resources, regions, 3);
	mal_trace_write_window(writer, 2, 0.25, samples, owner,
			       (struct mal_others_parts){0.125, NAN}, NULL, NULL, 0);
	/* A policy of the site's may forecast anything. */
	mal_trace_write_plan(writer, &(struct mal_plan){.bind = true, .forecast_s = INFINITY},
			     "for a test");
	assert_int_equal(mal_trace_close(writer, &err), 0);
	assert_true(has_text("\"phases\":2.0,\"regions\":{\"io\":[0.25,0.0,0.25,0.0],"
			     "\"solve \\\"x\\\"\":[0.125,0.5,0.0,0.0]}}]}\n"));
	assert_true(has_text("\"phases\":2.0}]}\n"));
	assert_false(has_text("of none that ran"));
	assert_true(has_text("\"busy\":[0,1000,0,0],\"borrowed\":[0,1,7,2,0,1000],"
			     "\"pages\":[0,1,1024,1,13,65536],\"ranks\""));
	assert_true(has_text("\"owner\":[-1,1,-1,-1],\"ranks\""));
	assert_int_equal(mal_trace_read(&again, path, &err), 0);
	assert_string_equal(again.step, "7.0");
	assert_int_equal(again.rank_count, 2);
	assert_int_equal(again.topology.cpu_count, 4);
	assert_int_equal(again.topology.l3[3], 5);
	assert_int_equal(again.topology.package[2], 1);
	assert_int_equal(again.window_count, 2);
	/* The last that is known. */
	assert_float_equal(again.others.used, 0.125, 0);
	assert_float_equal(again.others.taken, 0.25, 0);
	assert_memory_equal(again.windows[0].owner, owner, sizeof(owner));
	assert_memory_equal(mal_trace_samples(&again, &again.windows[0]), samples, sizeof(samples));
	assert_false(again.cut);
	mal_trace_destroy(&again);
	mal_trace_destroy(&trace);
}

#define STEP \
	"{\"type\":\"step\",\"version\":1,\"ranks\":1,\"cpus\":[0],\"l3\":[0],\"numa\":[0]," \
	"\"package\":[0]}\n"
#define RANK(rank, work) \
	"{\"rank\":" rank ",\"elapsed_s\":1,\"work_s\":" work \
	",\"serial_s\":0,\"mpi_s\":0,\"barrier_s\":0,\"region_s\":0,\"cpus\":1," \
	"\"most\":0,\"team\":1,\"phases\":1}"
#define WINDOW(ranks) \
	"{\"type\":\"window\",\"at_s\":1,\"elapsed_s\":1,\"owner\":[0],\"ranks\":[" ranks "]}\n"

#define BUSY(keys) "{\"type\":\"window\",\"elapsed_s\":1,\"owner\":[0],\"ranks\":[]," keys "}\n"

static void nothing_is_believed(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} cases[] = {
		{"", "it has no window"},
		{"hello\n", ": it is no trace; --balance-trace=FILE writes one"},
		{"{}\n", ": it is no trace"},
		{"{\n  \"version\": 1,\n  \"malleable\": \"0.9.0\",\n",
		 ": it is a report (of --balance-report), and no trace; --balance-trace=FILE"},
		{"{\"version\": 1, \"malleable\": \"0.9.0\"}\n", ": it is a report"},
		{STEP, "it has no window"},
		{WINDOW(""), "line 1: the first line"},
		{STEP STEP, "line 2: the first line"},
		{"{\"type\":\"step\",\"version\":2}\n", "version 1"},
		{"{\"type\":\"step\",\"version\":1,\"ranks\":1000000000,\"cpus\":[0]}\n",
		 "out of range"},
		{"{\"type\":\"step\",\"version\":1,\"ranks\":1,\"cpus\":[0],\"l3\":[]}\n",
		 "number of places is not that of CPUs"},
		{STEP WINDOW(RANK("1", "1")), "line 2: a rank does not exist"},
		{STEP WINDOW(RANK("0", "1") "," RANK("0", "1")), "twice"},
		{STEP WINDOW(RANK("0", "-1")), "times are missing or out of range"},
		{STEP WINDOW(RANK("0", "1e300")), "times are missing or out of range"},
		{STEP WINDOW(RANK("0", "\"x\"")), "times are missing or out of range"},
		{STEP WINDOW("17"), "a rank does not exist"},
		{STEP "{\"type\":\"window\",\"elapsed_s\":1,\"owner\":[1],\"ranks\":[]}\n",
		 "number of owners is not that of CPUs"},
		{STEP "{\"type\":\"window\",\"elapsed_s\":1,\"owner\":[0,0],\"ranks\":[]}\n",
		 "number of owners is not that of CPUs"},
		{STEP "{\"type\":\"window\",\"elapsed_s\":1,\"owner\":[0]}\n", "ranks are missing"},
		{STEP BUSY("\"busy\":[0,1]"), "how busy CPUs were is out of range"},
		{STEP BUSY("\"busy\":[1001]"), "how busy CPUs were is out of range"},
		{STEP BUSY("\"borrowed\":{}"), "how busy CPUs were is out of range"},
		{STEP BUSY("\"borrowed\":[0,0]"), "how busy CPUs were is out of range"},
		{STEP BUSY("\"borrowed\":[1,0,1]"), "how busy CPUs were is out of range"},
		{STEP BUSY("\"borrowed\":[0,1,1]"), "how busy CPUs were is out of range"},
		{STEP BUSY("\"borrowed\":[0,0,1001]"), "how busy CPUs were is out of range"},
		{STEP BUSY("\"borrowed\":[0,0,-1]"), "how busy CPUs were is out of range"},
		{STEP BUSY("\"pages\":[0,0]"), "where pages are is out of range"},
		{STEP BUSY("\"pages\":[1,0,1]"), "where pages are is out of range"},
		{STEP BUSY("\"pages\":[0,1024,1]"), "where pages are is out of range"},
		{STEP BUSY("\"pages\":[0,0,65537]"), "where pages are is out of range"},
		{STEP "{\"type\":\"ranks\",\"ranks\":1}\n", "line 2: number of ranks out of range"},
		{STEP "{\"type\":\"ranks\",\"ranks\":1e9}\n", "number of ranks out of range"},
		{STEP "{\"type\":\"ranks\",\"ranks\":1025}\n", "number of ranks out of range"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mal_trace trace;
		struct mal_error err = {""};

		write_text(cases[i].text);
		if (mal_trace_read(&trace, path, &err) == 0)
			fail_msg("case %zu was read", i);
		if (!strstr(err.text, cases[i].why))
			fail_msg("case %zu: '%s' does not say '%s'", i, err.text, cases[i].why);
		mal_trace_destroy(&trace);
	}
}

/* A rank that comes later is one from there on, and a CPU of nobody stays so. */
static void ranks_may_come_later(void **state)
{
	struct mal_trace trace;
	struct mal_error err;

	(void)state;
	write_text(STEP "{\"type\":\"window\",\"elapsed_s\":1,\"owner\":[-1],\"ranks\":[" RANK(
		"0", "1") "]}\n{\"type\":\"ranks\",\"ranks\":3}\n" WINDOW(RANK("2", "1")));
	assert_int_equal(mal_trace_read(&trace, path, &err), 0);
	assert_int_equal(trace.rank_count, 3);
	assert_int_equal(trace.windows[0].owner[0], 3);
	assert_true(mal_trace_samples(&trace, &trace.windows[1])[2].running);
	mal_trace_destroy(&trace);
}

/* What is divided by it is a number. */
static void times_of_no_clock_are_none(void **state)
{
	struct mal_trace trace;
	struct mal_error err;

	(void)state;
	write_text(STEP "{\"type\":\"window\",\"elapsed_s\":5e-324,\"owner\":[0],\"ranks\":[" RANK(
		"0", "2e-9") "]}\n");
	assert_int_equal(mal_trace_read(&trace, path, &err), 0);
	assert_true(trace.windows[0].elapsed_s == 0);
	assert_true(trace.windows[0].kept[0].work_s > 0);
	mal_trace_destroy(&trace);
}

static void cut_last_line_is_left_out(void **state)
{
	struct mal_trace trace;
	struct mal_error err;

	(void)state;
	write_text(STEP WINDOW(RANK("0", "1")) "{\"type\":\"win");
	assert_int_equal(mal_trace_read(&trace, path, &err), 0);
	assert_int_equal(trace.window_count, 1);
	assert_true(trace.cut);
	mal_trace_destroy(&trace);
}

/* Neither has an end, or one that anybody waits for. */
static void what_has_no_end_is_refused(void **state)
{
	struct mal_trace trace;
	struct mal_error err;

	(void)state;
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(mal_trace_read(&trace, path, &err), -1);
	assert_non_null(strstr(err.text, "not a regular file"));
	mal_trace_destroy(&trace);
	assert_int_equal(unlink(path), 0);
	write_text(STEP);
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	assert_int_equal(mal_trace_read(&trace, path, &err), -1);
	assert_non_null(strstr(err.text, "line 2: it is too long"));
	mal_trace_destroy(&trace);
	assert_int_equal(truncate(path, 0), 0);
}

/* A parser needs much more memory for a part than the file has for it. */
static void many_parts_are_refused(void **state)
{
	struct mal_trace trace;
	struct mal_error err;
	FILE *file;

	(void)state;
	write_text(STEP WINDOW(RANK("0", "1")) "[");
	file = fopen(path, "a");
	assert_non_null(file);
	for (int i = 0; i < 10000; i++)
		fputs("{},", file);
	fputs("{}]\n", file);
	fclose(file);
	assert_int_equal(mal_trace_read(&trace, path, &err), -1);
	assert_non_null(strstr(err.text, "line 3: it has too many parts"));
	mal_trace_destroy(&trace);
}

/* A null byte at a line's start must not make code look at bytes before the line. */
static void bytes_of_value_0_are_refused(void **state)
{
	static const char *const starts[] = {"", "{\"type\":\"plan\"}"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct mal_trace trace;
		struct mal_error err = {""};
		FILE *file;

		write_text(STEP WINDOW(RANK("0", "1")));
		file = fopen(path, "a");
		assert_non_null(file);
		fprintf(file, "%s%c\n", starts[i], '\0');
		fclose(file);
		assert_int_equal(mal_trace_read(&trace, path, &err), -1);
		assert_non_null(strstr(err.text, "line 3"));
		mal_trace_destroy(&trace);
	}
}

static void traces_fit_other_machines(void **state)
{
	struct mal_trace trace;
	struct mal_error err;

	(void)state;
	write_text(STEP WINDOW(RANK("0", "1")));
	assert_int_equal(mal_trace_read(&trace, path, &err), 0);
	assert_int_equal(mal_trace_change_cpus(&trace, 12, &err), 0);
	assert_int_equal(mal_places_read("pack:2 numa:1 l3:2 core:3 pu:1", trace.cpu, 12, NULL,
					 trace.l3, trace.numa, trace.package, &err),
			 12);
	assert_int_equal(trace.topology.l3[11], 3);
	assert_int_equal(trace.topology.package[6], 1);
	assert_int_equal(mal_places_read("rubbish", NULL, 0, NULL, NULL, NULL, NULL, &err), -1);
	assert_non_null(strstr(err.text, "rubbish"));
	mal_trace_destroy(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_as_written),
		cmocka_unit_test(nothing_is_believed),
		cmocka_unit_test(ranks_may_come_later),
		cmocka_unit_test(times_of_no_clock_are_none),
		cmocka_unit_test(cut_last_line_is_left_out),
		cmocka_unit_test(bytes_of_value_0_are_refused),
		cmocka_unit_test(many_parts_are_refused),
		cmocka_unit_test(what_has_no_end_is_refused),
		cmocka_unit_test(traces_fit_other_machines),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}

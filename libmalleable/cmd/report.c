/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report.c: malleable report: one page of HTML from traces. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/beside.h"
#include "libmalleable/base/options.h"
#include "libmalleable/base/output.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/cmd/compare.h"
#include "libmalleable/cmd/html.h"
#include "libmalleable/cmd/page.h"
#include "libmalleable/cmd/series.h"
#include "libmalleable/trace/trace.h"

#define TRACES_MAX 64

struct arguments {
	const char *output; /* "-": standard output */
	int directory; /* of the first trace, after which the output is named; AT_FDCWD: not so */
	const char *libdir;
	struct mal_comparison comparison;
};

static void usage(FILE *out)
{
	fputs("Usage: malleable report [OPTIONS] TRACE...\n"
	      "\n"
	      "Makes one page of HTML of traces that srun --balance-trace=TRACE recorded: the "
	      "work\n"
	      "and the CPUs of each rank over time, where the time was lost, and what each policy\n"
	      "would make of it. Any browser shows it; it needs no network.\n"
	      "\n"
	      "  -o FILE, --output=FILE          write to FILE; - is standard output\n"
	      "                                  (default: the first TRACE with .html)\n"
	      "  --policy=POLICY[,KEY=VALUE...]  may be given several times\n"
	      "                                  (default: off, lewi, sabo and auto)\n"
	      "  --libdir=DIR                    where loadable policies are\n"
	      "  --help, --version\n"
	      "\n"
	      "Exit status: 0; 1: a trace cannot be read, or the page not be written; 2: wrong\n"
	      "arguments.\n",
	      out);
}

static const struct mal_tool tool = {"malleable report", PACKAGE_VERSION, usage};

/* Returns 0, 1 for --help, or -1. */
static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"policy", required_argument, NULL, 'p'},
		{"libdir", required_argument, NULL, 'L'},
		MAL_OPTIONS_END,
	};
	struct mal_error err = {""};
	int option;

	*arguments = (struct arguments){.directory = AT_FDCWD, .libdir = MAL_LIBDIR};
	while ((option = mal_option(&tool, argc, argv, "o:", options)) != MAL_OPTION_END) {
		switch (option) {
		case 'o': arguments->output = optarg; break;
		case 'L': arguments->libdir = optarg; break;
		case 'p':
			if (mal_compare_add(&arguments->comparison, optarg, &err) == 0)
				break;
			return mal_option_wrong(&tool, "%s", err.text);
		default: return option;
		}
	}
	if (argc == optind || argc - optind > TRACES_MAX)
		return mal_option_wrong(&tool, "give 1 to %d traces", TRACES_MAX);
	if (mal_compare_choose(&arguments->comparison, arguments->libdir, &err) == 0)
		return 0;
	return mal_option_wrong(&tool, "%s", err.text);
}

/* As mal_trace_read_at(); write the trace's part of the page to OUT, and ROW for the comparison. */
static int add_trace(struct mal_comparison *comparison, int directory, const char *path, FILE *out,
		     struct mal_page_row *row, struct mal_error *err)
{
	struct mal_series series = {0};
	struct mal_trace trace;
	int result = mal_trace_read_at(&trace, directory, path, err);

	if (result == 0)
		result = mal_compare_run(comparison, &trace, err);
	if (result == 0)
		result = mal_series_make(&series, &trace, err);
	if (result == 0) {
		mal_page_row(row, path, &trace, &series, comparison);
		mal_page_trace(out, row, &trace, &series, comparison);
	}
	mal_compare_clear(comparison);
	mal_series_destroy(&series);
	mal_trace_destroy(&trace);
	return result;
}

/* The parts of all traces, in memory: the comparison comes before them. Returns NULL with ERR. */
static char *make_parts(struct arguments *arguments, char **paths, size_t count,
			struct mal_page_row *rows, struct mal_error *err)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int result = out ? 0 : mal_fail(err, "out of memory");

	for (size_t i = 0; result == 0 && i < count; i++)
		result = add_trace(&arguments->comparison, i ? AT_FDCWD : arguments->directory,
				   paths[i], out, &rows[i], err);
	if (out && fclose(out) != 0 && result == 0)
		result = mal_fail(err, "out of memory");
	if (result == 0)
		return text;
	free(text);
	return NULL;
}

static FILE *open_page(const struct arguments *arguments, struct mal_error *err)
{
	if (arguments->directory != AT_FDCWD)
		return mal_beside_output(arguments->directory, arguments->output, "page", err);
	return strcmp(arguments->output, "-") == 0
		       ? stdout
		       : mal_output_open(arguments->output, "page", err);
}

static int write_page(const struct arguments *arguments, const struct mal_page_row *rows,
		      size_t count, const char *parts, struct mal_error *err)
{
	FILE *out = open_page(arguments, err);
	bool to_stdout = out == stdout;

	if (!out)
		return -1;
	mal_html_begin(out, "Balance report");
	if (count > 1)
		mal_page_compare(out, rows, count);
	fputs(parts, out);
	mal_html_end(out);
	if (to_stdout)
		return fflush(out) == 0 && !ferror(out)
			       ? 0
			       : mal_fail_errno(err, "cannot write the page");
	if (mal_output_close(out, arguments->output, "page", err) < 0)
		return -1;
	mal_print_line(stdout, "%s: open it in a browser", arguments->output);
	return 0;
}

/* Name the page, of SIZE bytes, after the trace in PATH, and find where both are. */
static int put_beside(struct arguments *arguments, const char *path, char *name, size_t size,
		      struct mal_error *err)
{
	if (snprintf(name, size, "%s.html", path) >= (int)size)
		return mal_fail(err, "%.64s...: too long", path);
	arguments->output = name;
	arguments->directory = mal_beside_open(path, "page", err);
	return arguments->directory < 0 ? -1 : 0;
}

static int make_page(struct arguments *arguments, char **paths, size_t count, struct mal_error *err)
{
	struct mal_page_row rows[TRACES_MAX];
	char *parts = make_parts(arguments, paths, count, rows, err);
	int result = parts ? write_page(arguments, rows, count, parts, err) : -1;

	free(parts);
	return result;
}

int mal_cmd_report(int argc, char **argv)
{
	struct arguments arguments;
	struct mal_error err;
	char name[4096];
	int result = parse_arguments(argc, argv, &arguments);

	if (result)
		return result > 0 ? 0 : 2;
	if (!arguments.output)
		result = put_beside(&arguments, argv[optind], name, sizeof(name), &err);
	if (result == 0)
		result = make_page(&arguments, argv + optind, (size_t)(argc - optind), &err);
	if (result == 0)
		return 0;
	fprintf(stderr, "malleable report: %s\n", err.text);
	return 1;
}

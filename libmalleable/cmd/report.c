/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report.c: malleable report: one page of HTML from traces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/options.h"
#include "libmalleable/base/output.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/cmd/contest.h"
#include "libmalleable/cmd/html.h"
#include "libmalleable/cmd/page.h"
#include "libmalleable/cmd/series.h"
#include "libmalleable/trace/trace.h"

#define TRACES_MAX 64

struct arguments {
	const char *output; /* NULL: named after the first trace; "-": standard output */
	const char *libdir;
	struct mal_contest contest;
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

	*arguments = (struct arguments){.libdir = MAL_LIBDIR};
	while ((option = mal_option(&tool, argc, argv, "o:", options)) != MAL_OPTION_END) {
		switch (option) {
		case 'o': arguments->output = optarg; break;
		case 'L': arguments->libdir = optarg; break;
		case 'p':
			if (mal_contest_add(&arguments->contest, optarg, &err) == 0)
				break;
			return mal_option_wrong(&tool, "%s", err.text);
		default: return option;
		}
	}
	if (argc == optind || argc - optind > TRACES_MAX)
		return mal_option_wrong(&tool, "give 1 to %d traces", TRACES_MAX);
	if (mal_contest_choose(&arguments->contest, arguments->libdir, &err) == 0)
		return 0;
	return mal_option_wrong(&tool, "%s", err.text);
}

/* Read the trace in PATH and write its part of the page to OUT, and ROW for the comparison. */
static int add_trace(struct mal_contest *contest, const char *path, FILE *out,
		     struct mal_page_row *row, struct mal_error *err)
{
	struct mal_series series = {0};
	struct mal_trace trace;
	int result = mal_trace_read(&trace, path, err);

	if (result == 0)
		result = mal_contest_run(contest, &trace, err);
	if (result == 0)
		result = mal_series_make(&series, &trace, err);
	if (result == 0) {
		mal_page_row(row, path, &trace, &series, contest);
		mal_page_trace(out, row, &trace, &series, contest);
	}
	mal_contest_clear(contest);
	mal_series_destroy(&series);
	mal_trace_destroy(&trace);
	return result;
}

/* The parts of all traces, in memory: the comparison comes before them. Returns NULL with ERR. */
static char *make_parts(struct mal_contest *contest, char **paths, size_t count,
			struct mal_page_row *rows, struct mal_error *err)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int result = out ? 0 : mal_fail(err, "out of memory");

	for (size_t i = 0; result == 0 && i < count; i++)
		result = add_trace(contest, paths[i], out, &rows[i], err);
	if (out && fclose(out) != 0 && result == 0)
		result = mal_fail(err, "out of memory");
	if (result == 0)
		return text;
	free(text);
	return NULL;
}

/* BESIDE: nobody named PATH, it follows from that of the first trace. */
static FILE *open_page(const char *path, bool beside, const struct mal_page_row *first,
		       struct mal_error *err)
{
	if (beside)
		return mal_output_open_beside(path, first->owner, "page", err);
	return strcmp(path, "-") == 0 ? stdout : mal_output_open(path, "page", err);
}

static int write_page(const char *path, bool beside, const struct mal_page_row *rows, size_t count,
		      const char *parts, struct mal_error *err)
{
	FILE *out = open_page(path, beside, rows, err);
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
	if (mal_output_close(out, path, "page", err) < 0)
		return -1;
	mal_print_line(stdout, "%s: open it in a browser", path);
	return 0;
}

int mal_cmd_report(int argc, char **argv)
{
	struct mal_page_row rows[TRACES_MAX];
	struct arguments arguments;
	struct mal_error err;
	char name[4096], *parts;
	int result = parse_arguments(argc, argv, &arguments);
	bool beside;

	if (result)
		return result > 0 ? 0 : 2;
	beside = !arguments.output;
	if (beside) {
		snprintf(name, sizeof(name), "%s.html", argv[optind]);
		arguments.output = name;
	}
	parts = make_parts(&arguments.contest, argv + optind, (size_t)(argc - optind), rows, &err);
	result = parts ? write_page(arguments.output, beside, rows, (size_t)(argc - optind), parts,
				    &err)
		       : -1;
	free(parts);
	if (result == 0)
		return 0;
	fprintf(stderr, "malleable report: %s\n", err.text);
	return 1;
}

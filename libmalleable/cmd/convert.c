/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* convert.c: malleable convert: a trace in a format that other programs read. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/base/beside.h"
#include "libmalleable/base/options.h"
#include "libmalleable/base/output.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/cmd/formats.h"
#include "libmalleable/trace/trace.h"

/* Files of a format. */
#define FILES 3

struct format {
	const char *name;
	struct {
		const char *suffix; /* NULL: no such file */
		void (*write)(FILE *out, const struct mal_trace *trace);
	} files[FILES];
};

static const struct format formats[] = {
	{"csv", {{".csv", mal_to_csv}}},
	{"perfetto", {{".json", mal_to_perfetto}}},
	{"paraver",
	 {{".prv", mal_to_paraver}, {".pcf", mal_to_paraver_names}, {".row", mal_to_paraver_rows}}},
};

struct arguments {
	const struct format *format;
	const char *output; /* NULL: named after the trace */
	const char *trace;
};

static void usage(FILE *out)
{
	fputs("Usage: malleable convert --to=FORMAT [OPTIONS] TRACE\n"
	      "\n"
	      "Writes a trace of srun --balance-trace=TRACE in a format of other programs.\n"
	      "\n"
	      "  --to=csv                        a line for each rank of each window (TRACE.csv)\n"
	      "  --to=perfetto                   for ui.perfetto.dev or chrome://tracing "
	      "(TRACE.json)\n"
	      "  --to=paraver                    for Paraver (TRACE.prv, TRACE.pcf, TRACE.row)\n"
	      "  -o FILE, --output=FILE          write to FILE, of Paraver's the one with .prv; - "
	      "is\n"
	      "                                  standard output, where it is one file\n"
	      "  --help, --version\n"
	      "\n"
	      "Exit status: 0; 1: the trace cannot be read, or a file not be written; 2: wrong\n"
	      "arguments.\n",
	      out);
}

static const struct mal_tool tool = {"malleable convert", PACKAGE_VERSION, usage};

static const struct format *find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	mal_option_wrong(&tool, "--to=%s: csv, perfetto or paraver is wanted", name);
	return NULL;
}

/* Returns 0, 1 for --help, or -1. */
static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"to", required_argument, NULL, 't'},
		{"output", required_argument, NULL, 'o'},
		MAL_OPTIONS_END,
	};
	int option;

	*arguments = (struct arguments){.output = NULL};
	while ((option = mal_option(&tool, argc, argv, "o:", options)) != MAL_OPTION_END) {
		switch (option) {
		case 'o': arguments->output = optarg; break;
		case 't':
			arguments->format = find(optarg);
			if (arguments->format)
				break;
			return MAL_OPTION_WRONG;
		default: return option;
		}
	}
	if (!arguments->format || argc - optind != 1)
		return mal_option_wrong(&tool, "give --to=FORMAT and one trace");
	arguments->trace = argv[optind];
	if (arguments->output && strcmp(arguments->output, "-") == 0 &&
	    arguments->format->files[1].suffix)
		return mal_option_wrong(&tool, "--to=%s: these are several files, not -",
					arguments->format->name);
	return 0;
}

/* The name of the format's file with SUFFIX in PATH. */
static int name_file(const struct arguments *arguments, const char *suffix, char *path, size_t size,
		     struct mal_error *err)
{
	const char *first = arguments->format->files[0].suffix;
	const char *base = arguments->output ? arguments->output : arguments->trace;
	size_t length = strlen(base);
	int written;

	if (arguments->output && !arguments->format->files[1].suffix)
		suffix = "";
	else if (arguments->output && length > strlen(first) &&
		 strcmp(base + length - strlen(first), first) == 0)
		length -= strlen(first);
	written = snprintf(path, size, "%.*s%s", (int)length, base, suffix);
	return written >= 0 && (size_t)written < size ? 0
						      : mal_fail(err, "%.64s...: too long", base);
}

/* DIRECTORY: where it is written beside the trace, the one that this was read from. */
static int write_file(const struct arguments *arguments, int directory,
		      const struct mal_trace *trace, size_t index, struct mal_error *err)
{
	char path[4096];
	FILE *out;

	if (arguments->output && strcmp(arguments->output, "-") == 0) {
		arguments->format->files[index].write(stdout, trace);
		return fflush(stdout) == 0 && !ferror(stdout)
			       ? 0
			       : mal_fail_errno(err, "cannot write the trace");
	}
	if (name_file(arguments, arguments->format->files[index].suffix, path, sizeof(path), err) <
	    0)
		return -1;
	out = arguments->output ? mal_output_open(path, "trace", err)
				: mal_beside_output(directory, path, "trace", err);
	if (!out)
		return -1;
	arguments->format->files[index].write(out, trace);
	if (mal_output_close(out, path, "trace", err) < 0)
		return -1;
	mal_print_line(stdout, "%s", path);
	return 0;
}

static int convert(const struct arguments *arguments, int directory, struct mal_error *err)
{
	struct mal_trace trace;
	int result = mal_trace_read_at(&trace, directory, arguments->trace, err);

	for (size_t i = 0; result == 0 && i < FILES && arguments->format->files[i].suffix; i++)
		result = write_file(arguments, directory, &trace, i, err);
	mal_trace_destroy(&trace);
	return result;
}

int mal_cmd_convert(int argc, char **argv)
{
	struct arguments arguments;
	struct mal_error err;
	int result = parse_arguments(argc, argv, &arguments), directory;

	if (result)
		return result > 0 ? 0 : 2;
	directory = arguments.output ? AT_FDCWD : mal_beside_open(arguments.trace, "trace", &err);
	if (directory != -1 && convert(&arguments, directory, &err) == 0)
		return 0;
	fprintf(stderr, "malleable convert: %s\n", err.text);
	return 1;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inspect.c: malleable inspect: which regions of a program can tell how large their team is.
 *
 * Run by root, this process opens the files, and a child that has given up root reads them.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/error.h"
#include "libmalleable/base/input.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/base/readable.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/cmd/nobody.h"
#include "libmalleable/prover/cmd/lines.h"
#include "libmalleable/prover/code/classify.h"
#include "libmalleable/prover/code/image.h"

enum { FILES = 1000, TEXT_LONGEST = 2560, LINE_LONGEST = 512, READABLE_NS = 500000000 };

struct work {
	int count;
	char **paths;
	int fds[FILES]; /* -1: it could not be opened */
	bool json;
	mal_demangle *demangle;
	struct mal_lines *lines;    /* of the file that is printed */
	uint64_t readable_until_ns; /* names and lines that are left then stay as they are */
};

static const char usage[] =
	"[--json] FILE...\n"
	"\n"
	"Prints for each parallel region of executables and shared libraries whether it\n"
	"is free (no thread can tell which thread it is, or how many there are) or bound,\n"
	"and why. A region that inspect does not understand is bound. Of a free one it\n"
	"prints why it may be right with one thread alone (a team of one does not grow\n"
	"in it), and why the number of threads may change the last bits of results (sums).\n"
	"\n"
	"  --json   print JSON\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 1: a file cannot be read, or is not a program; 2: wrong arguments.\n";

static const struct mal_tool tool = {.name = "malleable inspect", .usage = usage};

/* Where the source has what binds it, else where it begins; empty where that is not known. */
static const char *find_line(struct mal_lines *lines, const struct mal_verdict *verdict, char *text,
			     size_t size)
{
	if (verdict->where && *mal_lines_find(lines, verdict->where, text, size))
		return text;
	return mal_lines_find(lines, verdict->address, text, size);
}

static int print_region(const struct mal_verdict *verdict, const struct work *work)
{
	mal_demangle *demangle = mal_now_ns() < work->readable_until_ns ? work->demangle : NULL;
	char name[TEXT_LONGEST], reason[TEXT_LONGEST], line[LINE_LONGEST];
	char alone[TEXT_LONGEST], sums[TEXT_LONGEST];
	bool known = *find_line(work->lines, verdict, line, sizeof(line));

	mal_make_readable(demangle, verdict->name ? verdict->name : "?", name, sizeof(name));
	mal_make_readable(demangle, verdict->free ? "" : verdict->reason, reason, sizeof(reason));
	mal_make_readable(demangle, verdict->alone ? verdict->alone : "", alone, sizeof(alone));
	mal_make_readable(demangle, verdict->sums ? verdict->sums : "", sums, sizeof(sums));
	return mal_print_line(
		stdout, "  %#llx %s: %s%s%s%s%s%s%s%s%s", (unsigned long long)verdict->address,
		name, verdict->free ? "free" : "bound: ", reason, *alone ? ", alone: " : "", alone,
		*sums ? ", sums: " : "", sums, known ? " (" : "", line, known ? ")" : "");
}

/* Returns 0, or -1. */
static int print_text(const char *path, const struct mal_verdicts *verdicts,
		      const struct work *work)
{
	size_t found = 0;
	int result;

	if (verdicts->trouble)
		return mal_print_line(stdout, "%s: all regions bound: %s", path, verdicts->trouble);
	for (size_t i = 0; i < verdicts->count; i++)
		found += (size_t)verdicts->list[i].free;
	result = mal_print_line(stdout, "%s: %zu region%s, %zu free", path, verdicts->count,
				mal_plural(verdicts->count), found);
	for (size_t i = 0; i < verdicts->count; i++)
		result |= print_region(&verdicts->list[i], work);
	return result;
}

/*
 * TEXT made printable: bytes that are no UTF-8 would be no JSON. Of none, null. Returns NULL if
 * memory is out.
 */
static json_t *as_text(const char *text)
{
	char *copy = text ? strdup(text) : NULL;
	json_t *string;

	if (!text)
		return json_null();
	if (!copy)
		return NULL;
	mal_make_printable(copy, strlen(copy), false);
	string = json_string(copy);
	free(copy);
	return string;
}

/* Returns NULL if memory is out. */
static json_t *as_json(const char *path, const struct mal_verdicts *verdicts,
		       struct mal_lines *lines)
{
	json_t *regions = json_array();
	int result = 0;

	for (size_t i = 0; i < verdicts->count; i++) {
		const struct mal_verdict *verdict = &verdicts->list[i];
		char line[LINE_LONGEST];
		bool known = *find_line(lines, verdict, line, sizeof(line));

		result |= json_array_append_new(
			regions,
			json_pack("{s:I, s:o, s:b, s:o, s:o, s:o, s:o}", "address",
				  (json_int_t)verdict->address, "name", as_text(verdict->name),
				  "free", verdict->free, "reason", as_text(verdict->reason),
				  "alone", as_text(verdict->alone), "sums", as_text(verdict->sums),
				  "line", as_text(known ? line : NULL)));
	}
	if (result < 0) {
		json_decref(regions);
		return NULL;
	}
	return json_pack("{s:o, s:s?, s:o}", "file", as_text(path), "trouble", verdicts->trouble,
			 "regions", regions);
}

static int inspect_file(struct work *work, int index, json_t *all)
{
	const char *path = work->paths[index];
	struct mal_verdicts verdicts;
	struct mal_error err;
	size_t size;
	uint8_t *bytes = mal_input_read(work->fds[index], MAL_IMAGE_BYTES, &size, &err);
	int result = -1;

	errno = 0;
	if (bytes)
		result = mal_inspect(bytes, size, NULL, &verdicts, &err);
	work->readable_until_ns = mal_now_ns() + READABLE_NS;
	work->lines = bytes ? mal_lines_open(bytes, size, work->readable_until_ns) : NULL;
	if (result == 0) {
		/* Then regions are bound that are free. */
		bool lost = errno == ENOMEM;

		if (!lost && all)
			lost = json_array_append_new(all, as_json(path, &verdicts, work->lines)) <
			       0;
		else if (!lost)
			lost = print_text(path, &verdicts, work) < 0;
		if (lost)
			result = mal_fail(&err, "out of memory");
		mal_verdicts_free(&verdicts);
	}
	if (result < 0)
		mal_print_line(stderr, "malleable inspect: %s: %s", path, err.text);
	mal_lines_close(work->lines);
	free(bytes);
	return result;
}

/* Inspect the files that could be opened. Returns the exit status. */
static int inspect_files(void *argument)
{
	struct work *work = argument;
	json_t *all = work->json ? json_array() : NULL;
	int result = 0;

	if (work->json && !all) {
		fputs("malleable inspect: out of memory\n", stderr);
		return 1;
	}
	for (int i = 0; i < work->count; i++)
		if (work->fds[i] >= 0)
			result |= inspect_file(work, i, all);
	errno = 0;
	if (all) {
		result |= json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "malleable inspect: cannot print: %s\n", strerror(errno));
		return 1;
	}
	return result < 0;
}

static int open_files(struct work *work)
{
	int result = 0;

	for (int i = 0; i < work->count; i++) {
		work->fds[i] = mal_input_descriptor(AT_FDCWD, work->paths[i], 0);
		if (work->fds[i] < 0) {
			mal_print_line(stderr, "malleable inspect: %s: %s", work->paths[i],
				       errno == EINVAL ? "not a regular file" : strerror(errno));
			result = 1;
		}
	}
	return result;
}

int mal_cmd_inspect(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		MAL_OPTIONS_END,
	};
	struct work work = {0};
	int result;
	pid_t child;

	while (mal_option(&tool, argc, argv, false, options) != MAL_OPTION_END)
		work.json = true;
	if (optind == argc || argc - optind > FILES)
		mal_option_wrong(&tool, "give 1 to %d files", FILES);
	work.count = argc - optind;
	work.paths = argv + optind;
	work.demangle = mal_demangler(0);
	result = open_files(&work);
	if (geteuid() != 0)
		return inspect_files(&work) | result;
	child = mal_nobody_start("inspect", inspect_files, &work);
	return child < 0 ? 1 : mal_nobody_end("inspect", child) | result;
}

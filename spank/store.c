/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * store.c: malleable-store, which puts a step's report into report_dir=, as root.
 *
 * A program of its own, because a file system may not answer: slurmstepd kills this process at its
 * deadline. The file is root's, of bounded size, and begins with what root knows; the rest is what
 * the user's controller wrote, and is not read.
 *
 * Invariant: a report is root's, whatever links wait for it (t/t4502-files.t), and its size is
 * bounded (t/unit/test_core.c: site_reports_make_no_reader_wait).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libmalleable/base/hidden.h"
#include "libmalleable/base/number.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/base/output.h"
#include "libmalleable/base/spawn.h"
#include "libmalleable/core/site_report.h"

static const char usage[] =
	"USER GROUP FILE\n"
	"\n"
	"Writes the report of a step of USER's from descriptor 3 into the new FILE; a name\n"
	"that is taken gets a number. The balance plugin starts it as root.\n"
	"\n"
	"  --help, --version\n";

static const struct mal_tool tool = {.name = "malleable-store", .usage = usage};

static int fail(const struct mal_error *err)
{
	fprintf(stderr, "malleable-store: %s\n", err->text);
	return 1;
}

/* Where root may not write, as on a file system of the network, the user may. */
static int create(const char *path, uid_t user, gid_t group, struct mal_error *err)
{
	int fd = mal_output_create(path, err);

	if (fd < 0 && setresgid(group, group, group) == 0 && setresuid(user, user, user) == 0)
		fd = mal_output_create(path, NULL);
	return fd;
}

/* TEXT is an object: ours is its first member. */
static int store(const char *path, uid_t user, gid_t group, const char *text, size_t length)
{
	struct mal_error err;
	int fd = create(path, user, group, &err);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file)
		return fail(&err);
	fprintf(file, "{\n  \"recorded\": {\"uid\": %u},", (unsigned int)user);
	fwrite(text + 1, 1, length - 1, file);
	return mal_output_close(file, path, "report", &err) < 0 ? fail(&err) : 0;
}

int main(int argc, char **argv)
{
	unsigned int user, group;
	size_t length;
	char *text;

	mal_hidden_take(&argc, &argv);
	mal_option(&tool, argc, argv, true, NULL);
	argv += optind;
	if (argc - optind != 3 || !mal_number_parse(argv[0], 0, UINT32_MAX - 1, &user) ||
	    !mal_number_parse(argv[1], 0, UINT32_MAX - 1, &group))
		mal_option_wrong(&tool, "give USER GROUP FILE");
	text = malloc(MAL_SITE_REPORT_MAX);
	length = text ? mal_site_report_read(MAL_SPAWN_FIRST_FD, text) : 0;
	/* Nothing came, or it is no report. */
	if (!length || *text != '{')
		return 3;
	return store(argv[2], user, group, text, length);
}

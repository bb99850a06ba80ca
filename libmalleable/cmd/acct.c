/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * acct.c: malleable acct: what balancing saved, by the reports in report_dir=.
 *
 * The reports belong to users. Run by root, this process opens them, and a child that has given up
 * root reads and prints what is in them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/input.h"
#include "libmalleable/base/options.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/cmd/books.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/cmd/nobody.h"
#include "libmalleable/core/settings.h"

/* How long the child may take for one file. */
#define READ_MS 60000
/* Reports that are left out and said by name; the others are counted. */
#define NAMED 20

struct arguments {
	enum mal_books_by by;
	enum mal_books_format format;
	const char *directory;
};

struct work {
	struct mal_books *books;
	enum mal_books_format format;
	unsigned long left_out;
	int ends[2]; /* of the socket between root, which opens reports, and the child */
};

static void usage(FILE *out)
{
	fputs("Usage: malleable acct [OPTIONS] DIRECTORY\n"
	      "\n"
	      "Adds up the reports that report_dir=DIRECTORY of plugstack.conf collects, one for\n"
	      "each balanced step and node: the CPU hours of the steps, how many balancing saved,\n"
	      "and how many more it could save at best, also in steps that were only observed.\n"
	      "\n"
	      "  --by=user|program|policy|week   (default: user)\n"
	      "  --json                          print JSON, in CPU seconds\n"
	      "  --prometheus                    print what Prometheus' node_exporter reads\n"
	      "  --help, --version\n"
	      "\n"
	      "Exit status: 0; 1: the reports cannot all be read; 2: wrong arguments; 3: reports\n"
	      "whose numbers cannot be were left out.\n",
	      out);
}

static const struct mal_tool tool = {"malleable acct", PACKAGE_VERSION, usage};

/* Returns 0, 1 for --help, or -1. */
static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"by", required_argument, NULL, 'b'},
		{"json", no_argument, NULL, 'j'},
		{"prometheus", no_argument, NULL, 'p'},
		MAL_OPTIONS_END,
	};
	int option, word;

	*arguments = (struct arguments){.by = MAL_BY_USER};
	while ((option = mal_option(&tool, argc, argv, "", options)) != MAL_OPTION_END) {
		switch (option) {
		case 'j': arguments->format = MAL_BOOKS_JSON; break;
		case 'p': arguments->format = MAL_BOOKS_PROMETHEUS; break;
		case 'b':
			word = mal_word_find(mal_books_words, optarg);
			if (word < 0)
				return mal_option_wrong(&tool,
							"--by=%s: user, program, policy or week is "
							"wanted",
							optarg);
			arguments->by = (enum mal_books_by)word;
			break;
		default: return option;
		}
	}
	if (argc - optind != 1)
		return mal_option_wrong(&tool, "give one directory, that of report_dir=");
	arguments->directory = argv[optind];
	return 0;
}

/* NAME.json, or NAME.json.1 where the name was taken. */
static bool is_report(const char *name)
{
	const char *suffix = strstr(name, ".json");

	while (suffix && strstr(suffix + 1, ".json"))
		suffix = strstr(suffix + 1, ".json");
	return suffix && (!suffix[5] || (suffix[5] == '.' && suffix[6] && !suffix[7]));
}

static int fail(const char *what)
{
	fprintf(stderr, "malleable acct: %s: %s\n", what, strerror(errno));
	return 1;
}

/* What next_report() returns instead of a descriptor. */
enum { NOT_OPENED = -1, LAST = -2, FAILED = -3 };

/* The next report in DIRECTORY, its NAME and descriptor. FAILED: it has said why. */
static int next_report(DIR *directory, const char **name)
{
	const struct dirent *entry;
	int fd;

	do {
		errno = 0;
		entry = readdir(directory);
	} while (entry && !is_report(entry->d_name));
	if (!entry && !errno)
		return LAST;
	if (!entry) {
		fail("cannot read the directory");
		return FAILED;
	}
	*name = entry->d_name;
	fd = mal_input_descriptor(dirfd(directory), *name, O_NOFOLLOW);
	if (fd >= 0 || (errno != EMFILE && errno != ENFILE && errno != ENOMEM))
		return fd;
	fail("cannot open a report");
	return FAILED;
}

/* Add the report NAME, or what could not be opened (-1). Returns 0, or -1 and has said why. */
static int add(struct work *work, const char *name, int fd)
{
	struct mal_error err;
	int result = mal_books_add(work->books, name, fd, &err);

	if (result > 0)
		work->left_out++;
	if (result < 0 || (result > 0 && work->left_out <= NAMED))
		fprintf(stderr, "malleable acct: %s\n", err.text);
	return result < 0 ? -1 : 0;
}

/* Returns the exit status. */
static int print(const struct work *work)
{
	struct mal_error err;

	if (mal_books_print(work->books, stdout, work->format, &err) < 0) {
		fprintf(stderr, "malleable acct: %s\n", err.text);
		return 1;
	}
	if (work->left_out > NAMED)
		fprintf(stderr, "malleable acct: left out %lu more\n", work->left_out - NAMED);
	return work->left_out ? 3 : 0;
}

/* Whether SOCKET is ready in time for EVENTS. */
static bool is_ready(int socket, short events)
{
	errno = ETIMEDOUT;
	return mal_descriptor_wait(socket, events, mal_now_ms() + mal_patience_ms(READ_MS));
}

/* As nobody: read what comes over the socket. Returns the exit status. */
static int receive_reports(void *argument)
{
	struct work *work = argument;
	char name[NAME_MAX + 1];
	ssize_t got;
	int fd;

	/* Else we would not see root's end close. */
	close(work->ends[0]);
	do {
		got = is_ready(work->ends[1], POLLIN)
			      ? mal_descriptor_receive(work->ends[1], &fd, name, sizeof(name))
			      : -1;
		if (got < 0)
			return fail("a report did not come");
		if (got > 0 && add(work, name, fd) < 0)
			return 1;
	} while (got > 0);
	return print(work);
}

/* Hand the report NAME to the child behind SOCKET. */
static bool send_report(int socket, const char *name, int fd)
{
	bool sent = is_ready(socket, POLLOUT) &&
		    mal_descriptor_send(socket, fd, name, strlen(name) + 1) == 0;

	/* A child that is gone has said why. */
	if (!sent && errno != EPIPE && errno != ECONNRESET)
		fail("cannot hand on a report");
	if (fd >= 0)
		close(fd);
	return sent;
}

/* As root: open the reports for the child. Returns whether it got them all. */
static bool send_reports(DIR *directory, int socket)
{
	const char *name;
	int fd;

	while ((fd = next_report(directory, &name)) >= NOT_OPENED)
		if (!send_report(socket, name, fd))
			return false;
	return fd == LAST;
}

static int read_as_root(DIR *directory, struct work *work)
{
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, work->ends) < 0)
		return fail("cannot start a reader");
	child = mal_nobody_start("acct", receive_reports, work);
	if (child < 0)
		return 1;
	close(work->ends[1]);
	/* It must not print what only some of them add up to. */
	if (!send_reports(directory, work->ends[0]))
		kill(child, SIGKILL);
	close(work->ends[0]);
	return mal_nobody_end("acct", child);
}

static int read_all(DIR *directory, struct work *work)
{
	const char *name;
	int fd;

	if (geteuid() == 0)
		return read_as_root(directory, work);
	while ((fd = next_report(directory, &name)) >= NOT_OPENED)
		if (add(work, name, fd) < 0)
			return 1;
	return fd == LAST ? print(work) : 1;
}

int mal_cmd_acct(int argc, char **argv)
{
	struct arguments arguments;
	struct work work = {0};
	DIR *directory;
	int result = parse_arguments(argc, argv, &arguments);

	if (result)
		return result > 0 ? 0 : 2;
	directory = opendir(arguments.directory);
	if (!directory) {
		fprintf(stderr, "malleable acct: cannot read %s: %s\n", arguments.directory,
			strerror(errno));
		return 1;
	}
	work.format = arguments.format;
	work.books = mal_books_open(arguments.by);
	result = work.books ? read_all(directory, &work) : fail("cannot begin");
	mal_books_close(work.books);
	closedir(directory);
	return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * acct.c: malleable acct: what balancing saved, by the reports in report_dir=.
 *
 * The reports belong to users. Run by root, this process opens them, and a child that is nobody
 * reads and prints what is in them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/options.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/cmd/books.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/cmd/nobody.h"
#include "libmalleable/core/settings.h"

/* How long the child may take for one file. */
#define READ_MS 60000

struct arguments {
	enum mal_books_by by;
	enum mal_books_format format;
	const char *directory;
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
	      "Exit status: 0; 1: the directory cannot be read; 2: wrong arguments.\n",
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

/* The next report in DIRECTORY: its descriptor, -1 with errno: it cannot be opened; -2: no more. */
static int next_report(DIR *directory)
{
	const struct dirent *entry;

	while ((entry = readdir(directory)))
		if (is_report(entry->d_name))
			return openat(dirfd(directory), entry->d_name,
				      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return -2;
}

static int print(struct mal_books *books, const struct arguments *arguments)
{
	return mal_books_print(books, stdout, arguments->format) < 0 || fflush(stdout) != 0 ? 1 : 0;
}

/* Whether SOCKET is ready in time for EVENTS. */
static bool is_ready(int socket, short events)
{
	return mal_descriptor_wait(socket, events, mal_now_ms() + mal_patience_ms(READ_MS));
}

/* As nobody: read what comes over SOCKET. Returns the exit status. */
static int read_as_nobody(int socket, struct mal_books *books, const struct arguments *arguments)
{
	char byte;
	int fd;

	/* Without root's terminal, into which input could be injected, and which could stop it. */
	setsid();
	if (mal_become_nobody() < 0) {
		fprintf(stderr, "malleable acct: cannot give up root: %s\n", strerror(errno));
		return 1;
	}
	while (is_ready(socket, POLLIN) && mal_descriptor_receive(socket, &fd, &byte, 1) > 0) {
		if (fd >= 0)
			mal_books_add(books, fd);
		else
			mal_books_miss(books);
	}
	return print(books, arguments);
}

/* As root: open the reports for the child behind SOCKET. */
static void send_reports(DIR *directory, int socket)
{
	int fd;

	while ((fd = next_report(directory)) > -2) {
		bool sent =
			is_ready(socket, POLLOUT) && mal_descriptor_send(socket, fd, "", 1) == 0;

		if (fd >= 0)
			close(fd);
		/* The child is gone, and has said why. */
		if (!sent)
			return;
	}
}

/* The exit status of CHILD. Any process of nobody's can stop it: then it is ended. */
static int end_of(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, WUNTRACED) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WIFSTOPPED(status)) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	fputs("malleable acct: somebody stopped or killed what reads the reports\n", stderr);
	return 1;
}

static int read_as_root(DIR *directory, struct mal_books *books, const struct arguments *arguments)
{
	int ends[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ||
	    (child = fork()) < 0) {
		fprintf(stderr, "malleable acct: cannot start a reader: %s\n", strerror(errno));
		return 1;
	}
	if (child == 0) {
		close(ends[0]);
		closedir(directory);
		_exit(read_as_nobody(ends[1], books, arguments));
	}
	close(ends[1]);
	send_reports(directory, ends[0]);
	close(ends[0]);
	return end_of(child);
}

static int read_all(DIR *directory, struct mal_books *books, const struct arguments *arguments)
{
	int fd;

	if (geteuid() == 0)
		return read_as_root(directory, books, arguments);
	while ((fd = next_report(directory)) > -2) {
		if (fd >= 0)
			mal_books_add(books, fd);
		else
			mal_books_miss(books);
	}
	return print(books, arguments);
}

int mal_cmd_acct(int argc, char **argv)
{
	struct arguments arguments;
	struct mal_books *books;
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
	books = mal_books_open(arguments.by);
	if (books)
		result = read_all(directory, books, &arguments);
	else
		fputs("malleable acct: out of memory\n", stderr);
	mal_books_close(books);
	closedir(directory);
	return books ? result : 1;
}

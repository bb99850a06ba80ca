/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * command.c: run a user's command and wait for it.
 *
 * Invariant: the command's exit status is passed on (t/t2003-run.t).
 */
#include "libmalleable/cmd/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/base/printable.h"
#include "libmalleable/core/starts.h"

static pid_t child;

static void pass_on(int number)
{
	if (child > 0)
		kill(child, number);
}

int mal_command_run(const char *tool, char **argv, int segment_fd, int otherwise)
{
	int status;

	child = fork();
	if (child < 0) {
		fprintf(stderr, "%s: cannot fork: %s\n", tool, strerror(errno));
		return otherwise;
	}
	if (child == 0) {
		mal_starts_begin(segment_fd);
		execvp(argv[0], argv);
		mal_print_line(stderr, "%s: cannot run %s: %s", tool, argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, pass_on);
	signal(SIGHUP, pass_on);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return otherwise;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

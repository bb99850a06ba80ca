/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * handover.c: what became of a launcher's ranks, for the slurmstepd of the batch script.
 *
 * Invariant: what is no such message is passed over, nothing is waited for, and nobody who goes on
 * sending holds root up (t/unit/test_script.c: steps_are_handed_over_in_order).
 */
#include "libmalleable/core/handover.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* PIPE is NAME.PID: NAME-reports.PID, which is no pipe's name. */
static bool name_second(const char *pipe, char path[MAL_SCRIPT_PATH])
{
	const char *dot = strrchr(pipe, '.');

	return dot && snprintf(path, MAL_SCRIPT_PATH, "%.*s-reports%s", (int)(dot - pipe), pipe,
			       dot) < MAL_SCRIPT_PATH;
}

int mal_handover_listen(const char *pipe, uid_t user, gid_t group, char path[MAL_SCRIPT_PATH],
			struct mal_error *err)
{
	if (!name_second(pipe, path))
		return mal_fail(err, "%.64s: too long", pipe);
	return mal_script_make_pipe(path, user, group, err);
}

/* Where the pipe of the script is that this process is in. */
static bool find_pipe(char path[MAL_SCRIPT_PATH])
{
	int fd = mal_script_open();
	char link[32];
	ssize_t length;

	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, MAL_SCRIPT_PATH - 1);
	path[length > 0 ? length : 0] = '\0';
	close(fd);
	return length > 0;
}

void mal_handover_send(const struct mal_handover *what)
{
	char pipe[MAL_SCRIPT_PATH], path[MAL_SCRIPT_PATH];
	int fd;

	if (!find_pipe(pipe) || !name_second(pipe, path))
		return;
	fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	/* Less than PIPE_BUF: all of it or, where the pipe is full, nothing. */
	while (write(fd, what, sizeof(*what)) < 0 && errno == EINTR)
		;
	close(fd);
}

/* It becomes part of the name of a file, and of a log line. */
static void clean(char *name, size_t size)
{
	name[size - 1] = '\0';
	for (char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '_' && *at != '-')
			*at = '_';
	if (!*name)
		strcpy(name, "?");
}

bool mal_handover_take(int listening, unsigned int *left, struct mal_handover *what)
{
	ssize_t got;

	while (*left && (got = read(listening, what, sizeof(*what))) > 0) {
		--*left;
		if (got != (ssize_t)sizeof(*what) || what->record.magic != MAL_OUTCOME_MAGIC)
			continue;
		clean(what->launcher, sizeof(what->launcher));
		clean(what->policy, sizeof(what->policy));
		return true;
	}
	return false;
}

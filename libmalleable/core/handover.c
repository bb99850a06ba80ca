/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * handover.c: what became of a launcher's ranks, for the slurmstepd of the batch script.
 *
 * Invariant: what is no such message is passed over, nothing is waited for, and nobody who goes on
 * sending holds root up (t/unit/test_script.c: handed_over).
 */
#include "libmalleable/core/handover.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/descriptor.h"

/* PIPE is NAME.PID: NAME-reports.PID, which is no pipe's name. */
static bool name_socket(const char *pipe, char path[MAL_SCRIPT_PATH])
{
	const char *dot = strrchr(pipe, '.');

	return dot && snprintf(path, MAL_SCRIPT_PATH, "%.*s-reports%s", (int)(dot - pipe), pipe,
			       dot) < MAL_SCRIPT_PATH;
}

int mal_handover_listen(const char *pipe, uid_t user, gid_t group, char path[MAL_SCRIPT_PATH],
			struct mal_error *err)
{
	int fd;

	if (!name_socket(pipe, path))
		return mal_fail(err, "%.64s: too long", pipe);
	unlink(path);
	fd = mal_channel_listen(path, user, group, err);
	/* None is taken before the script has ended. */
	if (fd >= 0)
		listen(fd, MAL_HANDOVERS);
	return fd;
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

void mal_handover_send(const struct mal_handover *what, int report)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char pipe[MAL_SCRIPT_PATH], path[MAL_SCRIPT_PATH];
	int fd;

	if (!find_pipe(pipe) || !name_socket(pipe, path))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	strcpy(address.sun_path, path);
	/* Too many descriptors of the user's may be on their way: the figures come without. */
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    mal_descriptor_send(fd, report, what, sizeof(*what)) < 0 && report >= 0)
		mal_descriptor_send(fd, -1, what, sizeof(*what));
	if (fd >= 0)
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

static bool read_message(int fd, uid_t user, struct mal_handover *what, int *report)
{
	struct ucred peer;

	if (!mal_channel_peer(fd, &peer) || (peer.uid != user && peer.uid != 0) ||
	    mal_descriptor_receive(fd, report, what, sizeof(*what)) != (ssize_t)sizeof(*what))
		return false;
	clean(what->launcher, sizeof(what->launcher));
	clean(what->policy, sizeof(what->policy));
	return true;
}

bool mal_handover_take(int listening, uid_t user, unsigned int *left, struct mal_handover *what,
		       int *report)
{
	int fd;

	while (*left && (fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		bool whole;

		--*left;
		*report = -1;
		whole = read_message(fd, user, what, report);
		close(fd);
		if (whole)
			return true;
		if (*report >= 0)
			close(*report);
	}
	return false;
}

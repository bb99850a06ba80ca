/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rendezvous.c: the socket at which the ranks of one launcher meet. */
#include "libmalleable/cmd/rendezvous.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/clock.h"
#include "libmalleable/core/launcher_table.h"

#define GROUP_LENGTH 60

int mal_rendezvous_find(struct mal_rendezvous *rendezvous, struct mal_error *err)
{
	const char *path = mal_launcher_value(environ, MAL_LAUNCHER_DIRECTORY),
		   *group = mal_launcher_value(environ, MAL_LAUNCHER_JOB);
	struct stat status;

	if (!path || !group || strchr(group, '/'))
		return mal_fail(err, "the launcher does not name its directory and its job");
	/* The end differs between a launcher's jobs: the beginning may be the host's name. */
	if (strlen(group) > GROUP_LENGTH)
		group += strlen(group) - GROUP_LENGTH;
	snprintf(rendezvous->name, sizeof(rendezvous->name), "malleable.%s", group);
	rendezvous->directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (rendezvous->directory < 0)
		return mal_fail_errno(err, "cannot open the launcher's %.200s", path);
	if (fstat(rendezvous->directory, &status) == 0 && status.st_uid == geteuid() &&
	    !(status.st_mode & (S_IRWXG | S_IRWXO)))
		return 0;
	close(rendezvous->directory);
	return mal_fail(err, "the launcher's %.200s is open to other users", path);
}

/* By the open directory, whose path may be longer than a socket's. */
static struct sockaddr_un make_address(const struct mal_rendezvous *rendezvous)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
		 rendezvous->directory, rendezvous->name);
	return address;
}

/* Whether the other end of FD is of the same user. */
static bool is_ours(int fd)
{
	struct ucred peer;

	return mal_channel_peer(fd, &peer) && peer.uid == geteuid();
}

int mal_rendezvous_connect(const struct mal_rendezvous *rendezvous, long deadline, int *listening,
			   struct mal_error *err)
{
	const struct sockaddr_un address = make_address(rendezvous);
	const struct sockaddr *any = (const struct sockaddr *)&address;

	*listening = -1;
	do {
		int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), wrong;

		if (fd < 0)
			return mal_fail_errno(err, "cannot create a socket");
		if (connect(fd, any, sizeof(address)) == 0 && is_ours(fd))
			return fd;
		if (bind(fd, any, sizeof(address)) == 0 && listen(fd, SOMAXCONN) == 0) {
			*listening = fd;
			return -1;
		}
		wrong = errno;
		close(fd);
		/* As where the disk is full, which is everybody's. */
		errno = wrong;
		if (wrong != EADDRINUSE)
			return mal_fail_errno(err, "the launcher's ranks cannot meet");
		/* The one who was first may not listen yet. */
		usleep(1000);
	} while (mal_now_ms() < deadline);
	return mal_fail(err, "no process listens where the launcher's ranks meet");
}

void mal_rendezvous_end(const struct mal_rendezvous *rendezvous, int listening)
{
	unlinkat(rendezvous->directory, rendezvous->name, 0);
	close(listening);
}

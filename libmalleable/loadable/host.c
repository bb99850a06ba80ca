/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * host.c: start and end the process that runs a loaded policy, and take turns with it.
 *
 * Invariant: a policy that crashes or hangs harms nothing (t/t1003-loadable.t).
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/base/spawn.h"
#include "libmalleable/loadable/exchange.h"

/* How long an answer may take: decisions take microseconds, loading some milliseconds. */
#define LIMIT_MS 1000

static pid_t spawn(const char *directory, const char *file, int exchange, int socket)
{
	char path[PATH_MAX];
	const char *arguments[] = {"malleable-policy", NULL}, *hidden[] = {file, NULL};
	char *const environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	const int fds[] = {exchange, socket};

	_Static_assert(MAL_HOST_EXCHANGE == MAL_SPAWN_FIRST_FD &&
			       MAL_HOST_SOCKET == MAL_SPAWN_FIRST_FD + 1,
		       "these are the places of the host's descriptors");
	if (snprintf(path, sizeof(path), "%s/malleable-policy", directory) < (int)sizeof(path))
		return mal_spawn(&(struct mal_spawn){.path = path,
						     .arguments = arguments,
						     .hidden = hidden,
						     .environment = environment,
						     .fds = fds,
						     .count = 2,
						     .streams = true});
	errno = ENAMETOOLONG;
	return -1;
}

int mal_host_start(struct mal_host *host, const char *directory, const char *file,
		   const double *values, struct mal_error *err)
{
	int sockets[2] = {-1, -1}, memory = memfd_create("malleable-policy", MFD_CLOEXEC);
	struct mal_exchange *exchange = MAP_FAILED;

	if (memory >= 0 && ftruncate(memory, sizeof(*exchange)) == 0 &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0)
		exchange = mmap(NULL, sizeof(*exchange), PROT_READ | PROT_WRITE, MAP_SHARED, memory,
				0);
	*host = (struct mal_host){.socket = sockets[0], .pid = -1};
	if (exchange != MAP_FAILED) {
		host->exchange = exchange;
		exchange->decides = values != NULL;
		if (values)
			memcpy(exchange->values, values, sizeof(exchange->values));
		host->pid = spawn(directory, file, memory, sockets[1]);
	}
	if (host->pid < 0) {
		mal_fail_errno(err, "cannot run %s/malleable-policy", directory);
		mal_host_end(host);
	}
	if (memory >= 0)
		close(memory);
	if (sockets[1] >= 0)
		close(sockets[1]);
	return host->pid < 0 ? -1 : 0;
}

const char *mal_host_wait(struct mal_host *host)
{
	char byte;

	if (!mal_descriptor_wait(host->socket, POLLIN, mal_now_ms() + mal_patience_ms(LIMIT_MS)))
		return "it took too long";
	return recv(host->socket, &byte, 1, 0) == 1 ? NULL : "it crashed";
}

const char *mal_host_ask(struct mal_host *host)
{
	return send(host->socket, "", 1, MSG_NOSIGNAL) == 1 ? mal_host_wait(host) : "it crashed";
}

void mal_host_end(struct mal_host *host)
{
	if (host->pid > 0) {
		kill(host->pid, SIGKILL);
		while (waitpid(host->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (host->socket >= 0)
		close(host->socket);
	if (host->exchange)
		munmap(host->exchange, sizeof(*host->exchange));
	*host = (struct mal_host){.socket = -1, .pid = -1};
}

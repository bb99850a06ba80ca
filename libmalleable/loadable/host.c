/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* host.c: start and end the process that runs a loaded policy, and take turns with it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/base/patience.h"
#include "libmalleable/loadable/exchange.h"

/* How long an answer may take: decisions take microseconds, loading some milliseconds. */
#define LIMIT_MS 1000

static int spawn(struct mal_host *host, const char *directory, const char *file, int exchange,
		 int socket)
{
	char path[PATH_MAX];
	char *const arguments[] = {"malleable-policy", (char *)file, NULL};
	char *const environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	posix_spawn_file_actions_t actions;
	int failed;

	if (snprintf(path, sizeof(path), "%s/malleable-policy", directory) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	posix_spawn_file_actions_init(&actions);
	/* Both numbers are above MAL_HOST_SOCKET, so neither is overwritten before it is copied. */
	posix_spawn_file_actions_adddup2(&actions, exchange, MAL_HOST_EXCHANGE);
	posix_spawn_file_actions_adddup2(&actions, socket, MAL_HOST_SOCKET);
	posix_spawn_file_actions_addclosefrom_np(&actions, MAL_HOST_SOCKET + 1);
	failed = posix_spawn(&host->pid, path, &actions, NULL, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	errno = failed;
	return failed ? -1 : 0;
}

/* Move FD to a number above those that the host uses. */
static int out_of_the_way(int fd)
{
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, MAL_HOST_SOCKET + 1);

	if (fd >= 0)
		close(fd);
	return copy;
}

int mal_host_start(struct mal_host *host, const char *directory, const char *file,
		   const double *values, struct mal_error *err)
{
	int sockets[2] = {-1, -1}, memory = -1, result = -1;

	*host = (struct mal_host){.socket = -1, .pid = -1};
	memory = out_of_the_way(memfd_create("malleable-policy", MFD_CLOEXEC));
	if (memory < 0 || ftruncate(memory, sizeof(*host->exchange)) < 0)
		goto out;
	host->exchange =
		mmap(NULL, sizeof(*host->exchange), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (host->exchange == MAP_FAILED) {
		host->exchange = NULL;
		goto out;
	}
	host->exchange->decides = values != NULL;
	if (values)
		memcpy(host->exchange->values, values, sizeof(host->exchange->values));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		goto out;
	sockets[1] = out_of_the_way(sockets[1]);
	host->socket = sockets[0];
	result = spawn(host, directory, file, memory, sockets[1]);
out:
	if (result < 0) {
		mal_fail_errno(err, "cannot run %s/malleable-policy", directory);
		mal_host_end(host);
	}
	if (memory >= 0)
		close(memory);
	if (sockets[1] >= 0)
		close(sockets[1]);
	return result;
}

const char *mal_host_wait(struct mal_host *host)
{
	struct pollfd ready = {.fd = host->socket, .events = POLLIN};
	int found;
	char byte;

	do
		found = poll(&ready, 1, mal_patience_ms(LIMIT_MS));
	while (found < 0 && errno == EINTR);
	if (found == 0)
		return "it took too long";
	return found > 0 && recv(host->socket, &byte, 1, 0) == 1 ? NULL : "it crashed";
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

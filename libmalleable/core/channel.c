/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* channel.c: a request and its answer over an abstract Unix socket. */
#include "libmalleable/core/channel.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/core/clock.h"

#define WAITING_CLIENTS 128
/* How long a client may take to ask, and to read. */
#define CLIENT_MS 100

static socklen_t make_address(struct sockaddr_un *address, pid_t pid)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	/* The leading zero makes the name abstract. */
	snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "malleabled.%ld", (long)pid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address->sun_path + 1));
}

int mal_channel_listen(struct mal_error *err)
{
	struct sockaddr_un address;
	socklen_t length = make_address(&address, getpid());
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return mal_fail_errno(err, "cannot make a socket");
	if (bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, WAITING_CLIENTS) < 0) {
		mal_fail_errno(err, "cannot listen on the socket %s", address.sun_path + 1);
		close(fd);
		return -1;
	}
	return fd;
}

static bool get_peer(int fd, struct ucred *peer)
{
	socklen_t size = sizeof(*peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) == 0;
}

/* Wait for EVENTS on FD until DEADLINE. */
static bool wait_for(int fd, short events, long deadline)
{
	struct pollfd wait = {.fd = fd, .events = events};
	long left;
	int ready;

	do {
		left = deadline - mal_now_ms();
		ready = poll(&wait, 1, left > 0 ? (int)left : 0);
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

/* Read up to a line's end or the end. Returns false if that does not come in time. */
static bool read_line(int fd, char *text, size_t size)
{
	long deadline = mal_now_ms() + CLIENT_MS;
	size_t used = 0;

	while (used + 1 < size && wait_for(fd, POLLIN, deadline)) {
		ssize_t got = read(fd, text + used, size - 1 - used);
		char *end;

		if (got <= 0)
			return false;
		used += (size_t)got;
		text[used] = '\0';
		end = memchr(text, '\n', used);
		if (end) {
			*end = '\0';
			return true;
		}
	}
	return false;
}

int mal_channel_accept(int listening, char *text, size_t size)
{
	int fd;

	while ((fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		struct ucred peer;

		if (get_peer(fd, &peer) && (peer.uid == geteuid() || peer.uid == 0) && read_line(fd, text, size))
			return fd;
		close(fd);
	}
	return -1;
}

static bool write_all(int fd, const char *text, size_t length, long deadline)
{
	while (length) {
		ssize_t sent = send(fd, text, length, MSG_NOSIGNAL);

		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (sent < 0 && !wait_for(fd, POLLOUT, deadline))
			return false;
		if (sent > 0) {
			text += sent;
			length -= (size_t)sent;
		}
	}
	return true;
}

void mal_channel_answer(int client, const char *text, size_t length)
{
	write_all(client, text, length, mal_now_ms() + CLIENT_MS);
	close(client);
}

/* Where too many wait already, a socket that does not block is turned away at once. */
static int connect_until(int fd, const struct sockaddr_un *address, socklen_t length, long deadline)
{
	const struct timespec pause = {0, 1000000};

	while (connect(fd, (const struct sockaddr *)address, length) < 0) {
		if (errno != EAGAIN || mal_now_ms() >= deadline)
			return -1;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int open_client(pid_t pid, uid_t uid, long deadline, struct mal_error *err)
{
	struct sockaddr_un address;
	socklen_t length = make_address(&address, pid);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred peer;

	if (fd < 0)
		return mal_fail_errno(err, "cannot make a socket");
	if (connect_until(fd, &address, length, deadline) < 0)
		mal_fail_errno(err, "cannot reach the controller %ld", (long)pid);
	else if (!get_peer(fd, &peer) || peer.pid != pid || peer.uid != uid)
		mal_fail(err, "another process answers for the controller %ld", (long)pid);
	else
		return fd;
	close(fd);
	return -1;
}

/* All that comes until the end. */
static char *read_all(int fd, long deadline, size_t *length, struct mal_error *err)
{
	size_t room = 8192, used = 0;
	char *text = malloc(room);

	while (text && used < MAL_CHANNEL_ANSWER && wait_for(fd, POLLIN, deadline)) {
		ssize_t got;

		if (used + 1 == room) {
			char *more = realloc(text, 2 * room);

			if (!more)
				break;
			text = more;
			room *= 2;
		}
		got = read(fd, text + used, room - 1 - used);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			break;
		if (got == 0 && used) {
			text[used] = '\0';
			*length = used;
			return text;
		}
		if (got == 0)
			break;
		if (got > 0)
			used += (size_t)got;
	}
	free(text);
	mal_fail(err, "the controller does not answer");
	return NULL;
}

static bool send_request(int fd, const char *request, long deadline)
{
	return write_all(fd, request, strlen(request), deadline) && write_all(fd, "\n", 1, deadline);
}

bool mal_channel_tell(pid_t pid, uid_t uid, const char *request, int timeout_ms)
{
	long deadline = mal_now_ms() + timeout_ms;
	int fd = open_client(pid, uid, deadline, NULL);
	char answer[3] = "";
	bool done;

	if (fd < 0)
		return false;
	done = send_request(fd, request, deadline) && wait_for(fd, POLLIN, deadline) &&
	       read(fd, answer, sizeof(answer)) == (ssize_t)sizeof(answer) && memcmp(answer, "ok\n", 3) == 0;
	close(fd);
	return done;
}

char *mal_channel_ask(pid_t pid, uid_t uid, const char *request, int timeout_ms, size_t *length, struct mal_error *err)
{
	long deadline = mal_now_ms() + timeout_ms;
	int fd = open_client(pid, uid, deadline, err);
	char *answer = NULL;

	if (fd < 0)
		return NULL;
	if (send_request(fd, request, deadline))
		answer = read_all(fd, deadline, length, err);
	else
		mal_fail_errno(err, "cannot ask the controller %ld", (long)pid);
	close(fd);
	return answer;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* channel.c: a request and its answer over a Unix socket. */
#include "libmalleable/base/channel.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/base/raw.h"

#define WAITING_CLIENTS 128
/* How long a client may take to read the answer. */
#define CLIENT_MS 100

static int make_address(struct sockaddr_un *address, const char *path, struct mal_error *err)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address->sun_path))
		return mal_fail(err, "%.200s is too long for a socket", path);
	strcpy(address->sun_path, path);
	return 0;
}

static int open_socket(struct mal_error *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? mal_fail_errno(err, "cannot create a socket") : fd;
}

int mal_channel_listen(const char *path, uid_t uid, gid_t gid, struct mal_error *err)
{
	struct sockaddr_un address;
	bool bound = false;
	int fd;

	if (make_address(&address, path, err) < 0 || (fd = open_socket(err)) < 0)
		return -1;
	bound = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	/* Nobody can connect before listen(). */
	if (bound && chmod(path, 0600) == 0 && (uid == geteuid() || chown(path, uid, gid) == 0) &&
	    listen(fd, WAITING_CLIENTS) == 0)
		return fd;
	mal_fail_errno(err, "cannot listen on %.200s", path);
	if (bound)
		unlink(path);
	close(fd);
	return -1;
}

bool mal_channel_peer(int fd, struct ucred *peer)
{
	socklen_t size = sizeof(*peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) == 0;
}

/*
 * Take the line that FD begins with into TEXT, without its end, and no byte behind it. Returns 1,
 * 0: it has not come whole, or -1: it is too long, or the other end is closed.
 */
static int take_line(int fd, char *text, size_t size)
{
	ssize_t got = recv(fd, text, size - 1, MSG_PEEK | MSG_DONTWAIT);
	char *end;

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	end = memchr(text, '\n', (size_t)got);
	if (!end)
		return got == 0 || (size_t)got == size - 1 ? -1 : 0;
	if (recv(fd, text, (size_t)(end + 1 - text), MSG_DONTWAIT) != end + 1 - text)
		return -1;
	*end = '\0';
	return 1;
}

static bool write_all(int fd, const char *text, size_t length, long deadline)
{
	while (length) {
		ssize_t sent = send(fd, text, length, MSG_NOSIGNAL);

		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (sent < 0 && !mal_descriptor_wait(fd, POLLOUT, deadline))
			return false;
		if (sent > 0) {
			text += sent;
			length -= (size_t)sent;
		}
	}
	return true;
}

static void answer(int client, const char *text, size_t length)
{
	write_all(client, text, length, mal_now_ms() + mal_patience_ms(CLIENT_MS));
}

/* Take the version from TEXT. What is of another one is told so. */
static bool has_our_version(int client, char *text)
{
	static const char other[] =
		"error a request of another version: this controller speaks " MAL_CHANNEL_VERSION
		"; was malleable updated while the step runs?\n";
	size_t length = strlen(MAL_CHANNEL_VERSION " ");

	if (strncmp(text, MAL_CHANNEL_VERSION " ", length) == 0) {
		memmove(text, text + length, strlen(text + length) + 1);
		return true;
	}
	answer(client, other, sizeof(other) - 1);
	return false;
}

int mal_channel_accept(int listening)
{
	int fd;

	while ((fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		struct ucred peer;

		if (mal_channel_peer(fd, &peer) && (peer.uid == geteuid() || peer.uid == 0))
			return fd;
		close(fd);
	}
	return -1;
}

int mal_channel_take(int client, char *text, size_t size)
{
	int taken = take_line(client, text, size);

	return taken > 0 && !has_our_version(client, text) ? -1 : taken;
}

bool mal_channel_send(int client, const char *text, size_t length)
{
	return send(client, text, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
}

void mal_channel_answer(int client, const char *text, size_t length)
{
	answer(client, text, length);
	close(client);
}

void mal_channel_answer_fd(int client, int fd)
{
	mal_descriptor_send(client, fd, "ok\n", 3);
	close(client);
}

/* Retry: where the queue of connections is full, a non-blocking socket gets EAGAIN at once. */
static int connect_until(int fd, const struct sockaddr_un *address, long deadline)
{
	const struct timespec pause = {0, 1000000};

	while (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0) {
		if (errno != EAGAIN || mal_now_ms() >= deadline)
			return -1;
		nanosleep(&pause, NULL);
	}
	return 0;
}

int mal_channel_open(const char *path, long deadline, struct mal_error *err)
{
	struct sockaddr_un address;
	int fd;

	if (make_address(&address, path, err) < 0 || (fd = open_socket(err)) < 0)
		return -1;
	if (connect_until(fd, &address, deadline) == 0)
		return fd;
	mal_fail_errno(err, "cannot reach the controller at %.200s", path);
	close(fd);
	return -1;
}

bool mal_channel_is_open(const char *path)
{
	struct sockaddr_un address;
	long fd, result;

	if (make_address(&address, path, NULL) < 0)
		return false;
	fd = MAL_RAW(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return true;
	result = MAL_RAW(SYS_connect, fd, &address, sizeof(address));
	MAL_RAW(SYS_close, fd);
	/* EAGAIN: the queue of connections is full. */
	return result == 0 || result == -EAGAIN;
}

/* Read up to the end of the connection, into memory that the caller frees. */
static char *read_all(int fd, long deadline, size_t *length, struct mal_error *err)
{
	char part[8192], *text = NULL;
	FILE *all = open_memstream(&text, length);
	size_t used = 0;
	ssize_t got = -1;

	while (all && got && used < MAL_CHANNEL_ANSWER &&
	       mal_descriptor_wait(fd, POLLIN, deadline)) {
		got = read(fd, part, sizeof(part));
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			break;
		if (got > 0) {
			fwrite(part, 1, (size_t)got, all);
			used += (size_t)got;
		}
	}
	/* Not all of it is there where memory ran out. */
	if (all && fclose(all) == 0 && got == 0 && used && *length == used)
		return text;
	free(text);
	mal_fail(err, "the controller does not answer");
	return NULL;
}

static bool write_request(int fd, const char *request, long deadline)
{
	return write_all(fd, MAL_CHANNEL_VERSION " ", strlen(MAL_CHANNEL_VERSION " "), deadline) &&
	       write_all(fd, request, strlen(request), deadline) &&
	       write_all(fd, "\n", 1, deadline);
}

int mal_channel_ask_on(int fd, const char *request, char *answer, size_t size, long deadline)
{
	int taken = 0;

	if (!write_request(fd, request, deadline))
		return -1;
	while (taken == 0 && mal_descriptor_wait(fd, POLLIN, deadline))
		taken = take_line(fd, answer, size);
	return taken > 0 ? 0 : -1;
}

/* Connect and send REQUEST. Returns the connection, or -1 with ERR. */
static int send_request(const char *path, const char *request, long deadline, struct mal_error *err)
{
	int fd = mal_channel_open(path, deadline, err);

	if (fd < 0 || write_request(fd, request, deadline))
		return fd;
	mal_fail_errno(err, "cannot ask the controller at %.200s", path);
	close(fd);
	return -1;
}

bool mal_channel_tell(const char *path, const char *request, int timeout_ms)
{
	long deadline = mal_now_ms() + timeout_ms;
	int fd = send_request(path, request, deadline, NULL);
	char answer[3] = "";
	bool done;

	if (fd < 0)
		return false;
	done = mal_descriptor_wait(fd, POLLIN, deadline) &&
	       read(fd, answer, sizeof(answer)) == (ssize_t)sizeof(answer) &&
	       memcmp(answer, "ok\n", 3) == 0;
	close(fd);
	return done;
}

char *mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
		      struct mal_error *err)
{
	long deadline = mal_now_ms() + timeout_ms;
	int fd = send_request(path, request, deadline, err);
	char *answer;

	if (fd < 0)
		return NULL;
	answer = read_all(fd, deadline, length, err);
	close(fd);
	return answer;
}

int mal_channel_ask_fd(const char *path, const char *request, int timeout_ms, struct mal_error *err)
{
	long deadline = mal_now_ms() + timeout_ms;
	int fd = send_request(path, request, deadline, err), passed = -1;
	char answer[3];

	if (fd < 0)
		return -1;
	if (mal_descriptor_wait(fd, POLLIN, deadline))
		mal_descriptor_receive(fd, &passed, answer, sizeof(answer));
	close(fd);
	return passed < 0 ? mal_fail(err, "the controller at %.200s does not answer", path)
			  : passed;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* descriptor.c: wait for a descriptor, and pass one over a Unix socket. */
#include "libmalleable/base/descriptor.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"

/* To look into /proc, and write a report. */
#define SPARE 16

bool mal_descriptors_are_few(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd + SPARE >= limit.rlim_cur;
}

bool mal_descriptor_wait(int fd, short events, long deadline)
{
	struct pollfd wait = {.fd = fd, .events = events};
	int ready;

	if (fd < 0)
		return false;
	do {
		long left = deadline - mal_now_ms();

		ready = poll(&wait, 1, left > 0 ? (int)left : 0);
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

int mal_descriptors_send(int socket, const int *fds, size_t count, const void *data, size_t size)
{
	union {
		char room[CMSG_SPACE(MAL_DESCRIPTORS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec part = {(void *)(size_t)data, size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (count) {
		struct cmsghdr *header;

		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(header), fds, count * sizeof(int));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size ? 0 : -1;
}

int mal_descriptor_send(int socket, int fd, const void *data, size_t size)
{
	return mal_descriptors_send(socket, &fd, fd >= 0, data, size);
}

ssize_t mal_descriptors_receive(int socket, int *fds, size_t *count, void *data, size_t size,
				int flags)
{
	union {
		char room[CMSG_SPACE(MAL_DESCRIPTORS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = {data, size};
	/*
	 * Room for so many, without the padding behind them, where another would fit: the kernel
	 * closes all that have no room.
	 */
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = CMSG_LEN(*count * sizeof(int))};
	ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | flags);
	struct cmsghdr *header = got < 0 ? NULL : CMSG_FIRSTHDR(&message);

	*count = 0;
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
		*count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(header), *count * sizeof(int));
	}
	if (got >= 0 && !*count && (message.msg_flags & MSG_CTRUNC)) {
		errno = EMFILE;
		return -1;
	}
	return got;
}

ssize_t mal_descriptor_receive(int socket, int *fd, void *data, size_t size)
{
	size_t count = 1;

	*fd = -1;
	return mal_descriptors_receive(socket, fd, &count, data, size, 0);
}

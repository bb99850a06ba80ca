/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* world.c: replacements of files, processes and sockets (world.h). */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "t/fuzz/fuzz.h"

/* Descriptors from here on are none. */
#define FIRST_FAKE (1 << 20)

const uint8_t *fuzz_input;
size_t fuzz_left;

void fuzz_begin(const uint8_t *data, size_t size)
{
	fuzz_input = data;
	fuzz_left = size;
}

size_t fuzz_take(void *to, size_t size)
{
	size_t taken = size < fuzz_left ? size : fuzz_left;

	memset(to, 0, size);
	if (taken)
		memcpy(to, fuzz_input, taken);
	fuzz_input += taken;
	fuzz_left -= taken;
	return taken;
}

unsigned int fuzz_byte(void)
{
	uint8_t byte;

	fuzz_take(&byte, 1);
	return byte;
}

char *fuzz_text(void)
{
	char *text = malloc(fuzz_left + 1);

	if (!text)
		abort();
	text[fuzz_take(text, fuzz_left)] = '\0';
	return text;
}

char *fuzz_line(void)
{
	const uint8_t *end = fuzz_left ? memchr(fuzz_input, '\n', fuzz_left) : NULL;
	size_t length = end ? (size_t)(end - fuzz_input) : fuzz_left;
	char *line = malloc(length + 1);

	if (!line)
		abort();
	line[fuzz_take(line, length)] = '\0';
	if (end)
		fuzz_byte();
	return line;
}

/* Processes with odd numbers have ended. */
int fuzz_kill(pid_t pid, int number)
{
	(void)number;
	errno = ESRCH;
	return pid % 2 ? -1 : 0;
}

long fuzz_syscall(long number, ...)
{
	(void)number;
	errno = ENOSYS;
	return -1;
}

/* Files read the rest of the input; what is written to them is discarded. */
FILE *fuzz_fopen(const char *path, const char *mode)
{
	static char sink[65536];

	(void)path;
	if (*mode == 'w')
		return fmemopen(sink, sizeof(sink), "w");
	errno = ENOENT;
	return fuzz_left ? fmemopen((void *)fuzz_input, fuzz_left, "r") : NULL;
}

DIR *fuzz_opendir(const char *path)
{
	(void)path;
	errno = ENOENT;
	return NULL;
}

pid_t fuzz_getpid(void)
{
	return 2;
}

/*
 * A message is a byte with its length, and that many more. At the end of the input the other side
 * has closed.
 */
static ssize_t take_message(void *buffer, size_t size)
{
	char message[256];
	size_t length = fuzz_left ? fuzz_byte() : 0;

	length = fuzz_take(message, length);
	memcpy(buffer, message, length < size ? length : size);
	return (ssize_t)length;
}

ssize_t fuzz_recv(int fd, void *buffer, size_t size, int flags)
{
	(void)fd;
	(void)flags;
	return take_message(buffer, size);
}

/*
 * After the message comes a byte with the number of its descriptors; as many are passed as there is
 * room for.
 */
ssize_t fuzz_recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t got = take_message(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
	size_t count = fuzz_byte() % 4;
	struct cmsghdr *header = CMSG_FIRSTHDR(message);

	(void)fd;
	(void)flags;
	while (count && CMSG_SPACE(count * sizeof(int)) > message->msg_controllen)
		count--;
	message->msg_controllen = count ? CMSG_SPACE(count * sizeof(int)) : 0;
	if (!count || !header)
		return got;
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(count * sizeof(int));
	for (size_t i = 0; i < count; i++)
		memcpy(CMSG_DATA(header) + i * sizeof(int), &(int){FIRST_FAKE + (int)i},
		       sizeof(int));
	return got;
}

ssize_t fuzz_sendmsg(int fd, const struct msghdr *message, int flags)
{
	(void)flags;
	return fd % 2 ? (ssize_t)message->msg_iov[0].iov_len : -1;
}

/* A client connects as long as there is input. */
int fuzz_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
	(void)fd;
	(void)address;
	(void)size;
	(void)flags;
	return fuzz_left ? FIRST_FAKE + (int)(fuzz_byte() & 1) : -1;
}

/* The peer is root or another user. */
int fuzz_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	(void)fd;
	(void)level;
	(void)name;
	memset(value, 0, *size);
	((struct ucred *)value)->uid = fuzz_byte() & 1;
	return 0;
}

ssize_t fuzz_pread(int fd, void *buffer, size_t size, off_t offset)
{
	(void)fd;
	(void)offset;
	return take_message(buffer, size);
}

ssize_t fuzz_send(int fd, const void *buffer, size_t size, int flags)
{
	(void)buffer;
	(void)flags;
	return fd % 2 ? (ssize_t)size : -1;
}

/* Pipes and copies are real. */
int fuzz_close(int fd)
{
	return fd > STDERR_FILENO && fd < FIRST_FAKE ? close(fd) : 0;
}

int fuzz_shutdown(int fd, int how)
{
	(void)fd;
	(void)how;
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * channel.c: data from a socket, in pieces: a request to a controller, or its answer, with or
 * without a descriptor.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/descriptor.h"
#include "t/fuzz/fuzz.h"

static ssize_t fuzz_read(int fd, void *buffer, size_t size);
static ssize_t fuzz_recv(int fd, void *buffer, size_t size, int flags);

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#define read fuzz_read
#define recv fuzz_recv
/* Always readable: after the input comes the end. */
#define mal_descriptor_wait(fd, events, deadline) ((void)(fd), (void)(deadline), true)
#define socket(domain, type, protocol) 5
#define connect(fd, address, size) ((void)(fd), (void)(address), 0)
#include "libmalleable/base/channel.c"

/*
 * A piece is a byte with its length, and that many more. At the end of the input the other side has
 * closed.
 */
static ssize_t fuzz_read(int fd, void *buffer, size_t size)
{
	size_t length = fuzz_left ? fuzz_byte() : 0;

	(void)fd;
	length = length < size ? length : size;
	return (ssize_t)fuzz_take(buffer, length < fuzz_left ? length : fuzz_left);
}

/* All of the input has come, and is taken where it is not only looked at. */
static ssize_t fuzz_recv(int fd, void *buffer, size_t size, int flags)
{
	size_t length = fuzz_left < size ? fuzz_left : size;

	(void)fd;
	if (!(flags & MSG_PEEK))
		return (ssize_t)fuzz_take(buffer, length);
	memcpy(buffer, fuzz_input, length);
	return (ssize_t)length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[300], *answer;
	struct mal_error err;
	unsigned int kind;
	size_t length;

	fuzz_begin(data, size);
	kind = fuzz_byte() % 4;
	if (kind == 0) {
		if (mal_channel_take(3, text, sizeof(text)) > 0 && strlen(text) >= sizeof(text))
			abort();
	} else if (kind == 1) {
		answer = mal_channel_ask("1.0", "status", 100, &length, &err);
		if (answer && answer[length])
			abort();
		free(answer);
	} else if (kind == 2) {
		mal_channel_ask_fd("1.0", MAL_CHANNEL_SEGMENT, 100, &err);
	} else {
		mal_channel_tell("1.0", "offer 1", 100);
	}
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* input.c: files of others, which may change while they are read. */
#include "libmalleable/base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int mal_input_descriptor(int directory, const char *name, int flags)
{
	int place = openat(directory, name, O_PATH | O_CLOEXEC | flags), fd = -1, wrong;
	struct stat status;
	char path[32];

	if (place < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	errno = EINVAL;
	if (fstat(place, &status) == 0 && S_ISREG(status.st_mode))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	wrong = errno;
	close(place);
	errno = wrong;
	return fd;
}

FILE *mal_input_open(int directory, const char *name, const char *path, struct mal_error *err)
{
	int fd = mal_input_descriptor(directory, name, 0);
	FILE *file = NULL;

	if (fd < 0 && errno == EINVAL)
		mal_fail(err, "cannot read %s: not a regular file", path);
	else if (fd < 0)
		mal_fail_errno(err, "cannot read %s", path);
	else if (!(file = fdopen(fd, "r")))
		mal_fail_errno(err, "cannot read %s", path);
	if (!file && fd >= 0)
		close(fd);
	return file;
}

static int read_bytes(int fd, uint8_t *bytes, size_t size, struct mal_error *err)
{
	for (size_t got = 0; got < size;) {
		ssize_t more = pread(fd, bytes + got, size - got, (off_t)got);

		if (more < 0)
			return mal_fail_errno(err, "cannot read");
		if (more == 0)
			return mal_fail(err, "the file shrank while it was read");
		got += (size_t)more;
	}
	return 0;
}

uint8_t *mal_input_read(int fd, size_t max, size_t *size, struct mal_error *err)
{
	struct stat status;
	uint8_t *bytes = NULL;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
		mal_fail(err, "empty or not a regular file");
	else if ((size_t)status.st_size > max)
		mal_fail(err, "too large");
	else if (!(bytes = calloc(1, (size_t)status.st_size + 1)))
		mal_fail(err, "out of memory");
	if (!bytes)
		return NULL;
	*size = (size_t)status.st_size;
	if (read_bytes(fd, bytes, *size, err) == 0)
		return bytes;
	free(bytes);
	return NULL;
}

void mal_input_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, size - 1);

	text[length > 0 ? length : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

size_t mal_input_parts(const char *text, size_t length)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += text[i] == '{' || text[i] == '[';
	return count;
}

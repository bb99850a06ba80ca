/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* beside.c: a file that somebody named, and others that are written beside it. */
#include "libmalleable/base/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/input.h"
#include "libmalleable/base/output.h"

/* Where the last part of PATH begins. */
static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int open_directory(const char *path)
{
	size_t length = (size_t)(name_in(path) - path);
	char directory[4096] = ".";

	if (length >= sizeof(directory)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (length) {
		memcpy(directory, path, length);
		directory[length] = '\0';
	}
	return open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int mal_beside_open(const char *path, const char *what, struct mal_error *err)
{
	int directory = open_directory(path);
	struct stat status;

	if (directory < 0 || fstat(directory, &status) < 0)
		mal_fail_errno(err, "cannot read %s", path);
	else if (status.st_uid != geteuid())
		mal_fail(err, "name the %s with -o: %s is in a directory of others", what, path);
	else
		return directory;
	if (directory >= 0)
		close(directory);
	return -1;
}

FILE *mal_beside_input(int directory, const char *path, struct mal_error *err)
{
	return mal_input_open(directory, directory == AT_FDCWD ? path : name_in(path), path, err);
}

FILE *mal_beside_output(int directory, const char *path, const char *what, struct mal_error *err)
{
	int fd = mal_output_derive(directory, name_in(path), path, what, err);

	return fd < 0 ? NULL : mal_output_take(fd, path, what, err);
}

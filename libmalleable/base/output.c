/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* output.c: files that a step writes. */
#include "libmalleable/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/path.h"

#define NAMES 10

/* Do not wait for a reader; a terminal must not become ours. */
#define FLAGS (O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* How files of ours begin. */
static const struct {
	const char *what;
	const char *begin;
} kinds[] = {
	{"report", "{\n  \"version\": 1,\n  \"malleable\": "},
	{"trace", "{\"type\":\"step\",\"version\":"},
};

/* Whether the file FD is an earlier one of WHAT, or empty: no user loses another by a slip. */
static bool is_ours(int fd, const struct stat *status, const char *what)
{
	char head[64];
	size_t kind = 0;

	if (!status->st_size)
		return true;
	while (kind < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[kind].what, what) != 0)
		kind++;
	return kind < sizeof(kinds) / sizeof(kinds[0]) &&
	       pread(fd, head, strlen(kinds[kind].begin), 0) ==
		       (ssize_t)strlen(kinds[kind].begin) &&
	       memcmp(head, kinds[kind].begin, strlen(kinds[kind].begin)) == 0;
}

int mal_output_named(const char *path)
{
	static const int flags = O_CREAT | O_NOFOLLOW | FLAGS;
	char name[NAME_MAX + 1];
	int directory = mal_path_open(path, true, name), fd;

	if (directory < 0)
		return -1;
	fd = openat(directory, name, O_RDWR | flags, 0666);
	if (fd < 0 && errno == EACCES)
		fd = openat(directory, name, O_WRONLY | flags, 0666);
	close(directory);
	return fd;
}

FILE *mal_output_take(int fd, const char *path, const char *what, struct mal_error *err)
{
	struct stat status;
	FILE *file = NULL;

	if (fd < 0 && errno == ENXIO)
		mal_fail(err, "cannot write the %s to %s: not a file or device", what, path);
	else if (fd < 0 && errno == EMLINK)
		mal_fail(err,
			 "cannot write the %s to %s: the path has another user's link; name its "
			 "target",
			 what, path);
	else if (fd < 0 || fstat(fd, &status) < 0)
		mal_fail_errno(err, "cannot write the %s to %s", what, path);
	else if (!S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode))
		mal_fail(err, "cannot write the %s to %s: not a file or device", what, path);
	else if (S_ISREG(status.st_mode) && !is_ours(fd, &status, what))
		mal_fail(err,
			 "cannot write the %s to %s: malleable did not write the file there; name "
			 "another",
			 what, path);
	else if (fcntl(fd, F_SETFL, 0) < 0 || (S_ISREG(status.st_mode) && ftruncate(fd, 0) < 0) ||
		 !(file = fdopen(fd, "w")))
		mal_fail_errno(err, "cannot write the %s to %s", what, path);
	if (!file && fd >= 0)
		close(fd);
	return file;
}

/* Whether FD is a file of the caller's own that NAME in DIRECTORY is the only name of. */
static bool is_own(int fd, int directory, const char *name)
{
	struct stat file, named;

	return fstat(fd, &file) == 0 &&
	       fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       file.st_dev == named.st_dev && file.st_ino == named.st_ino &&
	       S_ISREG(named.st_mode) && named.st_nlink == 1 && named.st_uid == geteuid();
}

int mal_output_derive(const char *path, const char *what, struct mal_error *err)
{
	static const int flags = O_RDWR | O_NOFOLLOW | FLAGS;
	char name[NAME_MAX + 1];
	int directory = mal_path_open(path, false, name), fd = -1;
	bool own;

	if (directory >= 0)
		fd = openat(directory, name, flags | O_CREAT | O_EXCL, 0666);
	own = fd >= 0;
	if (directory >= 0 && fd < 0 && errno == EEXIST) {
		fd = openat(directory, name, flags);
		own = fd >= 0 && is_own(fd, directory, name);
	}
	if (fd < 0 && errno != ELOOP && errno != EMLINK)
		mal_fail_errno(err, "cannot write the %s to %s", what, path);
	else if (!own)
		mal_fail(err,
			 "cannot write the %s to %.200s: a link, or others can write it; name "
			 "another file",
			 what, path);
	if (directory >= 0)
		close(directory);
	if (own)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int mal_output_create(const char *path, struct mal_error *err)
{
	char name[4096];
	int fd = -1;

	for (int i = 0; fd < 0 && i < NAMES; i++) {
		int length = i ? snprintf(name, sizeof(name), "%s.%d", path, i)
			       : snprintf(name, sizeof(name), "%s", path);

		if (length >= (int)sizeof(name))
			return mal_fail(err, "%.64s...: too long", path);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd < 0 ? mal_fail_errno(err, "cannot create %.200s", path) : fd;
}

int mal_output_close(FILE *file, const char *path, const char *what, struct mal_error *err)
{
	int failed = ferror(file);

	/* A full disk is often reported only here. */
	failed |= fclose(file);
	return failed ? mal_fail_errno(err, "cannot write the %s to %s", what, path) : 0;
}

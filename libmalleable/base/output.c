/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* output.c: files that a step writes. */
#include "libmalleable/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES 10

/* FOLLOW: 0, or O_NOFOLLOW. */
static FILE *open_output(const char *path, int follow, const char *what, struct mal_error *err)
{
	/* O_NONBLOCK: do not wait for a reader. O_NOCTTY: a terminal must not become ours. */
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | follow, 0666);
	struct stat status;
	FILE *file = NULL;

	if (fd < 0 && errno == ENXIO)
		mal_fail(err, "cannot write the %s to %s: not a file or device", what, path);
	else if (fd < 0 && errno == ELOOP && follow)
		mal_fail(err, "cannot write the %s to %s: a link; name the file with -o", what,
			 path);
	else if (fd < 0 || fstat(fd, &status) < 0)
		mal_fail_errno(err, "cannot write the %s to %s", what, path);
	else if (!S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode))
		mal_fail(err, "cannot write the %s to %s: not a file or device", what, path);
	else if (follow && status.st_nlink > 1)
		mal_fail(err, "cannot write the %s to %s: it has other names too; name it with -o",
			 what, path);
	else if (fcntl(fd, F_SETFL, 0) < 0 || (S_ISREG(status.st_mode) && ftruncate(fd, 0) < 0) ||
		 !(file = fdopen(fd, "w")))
		mal_fail_errno(err, "cannot write the %s to %s", what, path);
	if (!file && fd >= 0)
		close(fd);
	return file;
}

FILE *mal_output_open(const char *path, const char *what, struct mal_error *err)
{
	return open_output(path, 0, what, err);
}

FILE *mal_output_open_beside(const char *path, uid_t owner, const char *what, struct mal_error *err)
{
	if (geteuid() != 0 || owner == 0)
		return open_output(path, O_NOFOLLOW, what, err);
	mal_fail(err, "root writes no %s beside a file of others: name it with -o", what);
	return NULL;
}

int mal_output_create(const char *path, uid_t uid, gid_t gid, struct mal_error *err)
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
	if (fd < 0)
		return mal_fail_errno(err, "cannot create %.200s", path);
	if (uid == geteuid() || fchown(fd, uid, gid) == 0)
		return fd;
	mal_fail_errno(err, "cannot give %.200s to user %u", name, (unsigned int)uid);
	unlink(name);
	close(fd);
	return -1;
}

int mal_output_close(FILE *file, const char *path, const char *what, struct mal_error *err)
{
	int failed = ferror(file);

	/* A full disk is often reported only here. */
	failed |= fclose(file);
	return failed ? mal_fail_errno(err, "cannot write the %s to %s", what, path) : 0;
}

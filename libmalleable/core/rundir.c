/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rundir.c: the directories of controllers' sockets, and what is left in them.
 *
 * Invariant: a socket's directory belongs to root or to the user alone (t/unit/test_launch.c:
 * sockets_are_in_a_directory_of_ones_own).
 */
#include "libmalleable/core/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/number.h"

/* Whether PATH is a directory owned by us, which only we can write to. */
static bool is_own(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}

int mal_rundir_find_own(bool create, char *path, size_t size, struct mal_error *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int length;

	if (runtime && *runtime == '/' && is_own(runtime))
		length = snprintf(path, size, "%s/malleable", runtime);
	else
		length = snprintf(path, size, "/tmp/malleable-%u", (unsigned int)geteuid());
	if (length < 0 || (size_t)length >= size)
		return mal_fail(err, "XDG_RUNTIME_DIR is too long");
	if (create && mkdir(path, 0700) < 0 && errno != EEXIST)
		return mal_fail_errno(err, "cannot create %.200s", path);
	return is_own(path)
		       ? 0
		       : mal_fail(err, "%.200s is not a directory that only you can use", path);
}

void mal_rundir_clean_up(const char *path, bool (*in_use)(const char *path))
{
	DIR *directory = opendir(path);
	char name[PATH_MAX];
	struct dirent *file;

	while (directory && (file = readdir(directory))) {
		const char *dot = strrchr(file->d_name, '.');
		unsigned int pid;

		if (mal_number_parse(dot ? dot + 1 : file->d_name, 1, INT_MAX, &pid) &&
		    kill((pid_t)pid, 0) < 0 && errno == ESRCH &&
		    snprintf(name, sizeof(name), "%s/%s", path, file->d_name) < (int)sizeof(name) &&
		    !(in_use && in_use(name)))
			unlink(name);
	}
	if (directory)
		closedir(directory);
}

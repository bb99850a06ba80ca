/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * script.c: whether a batch script of a balanced job started ranks where the plugin sees them.
 *
 * Invariant: nobody else's process is told of the script's ranks (t/unit/test_script.c;
 * t/t4612-strangers.t).
 */
#include "libmalleable/core/script.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/number.h"
#include "libmalleable/core/inside.h"
#include "libmalleable/core/job_path.h"
#include "libmalleable/core/rundir.h"

/* What is told. */
#define STARTED 's'
#define WITHOUT_RANKS 'w'
/* So many bytes wait in a pipe (pipe(7)). */
#define QUEUE 65536

const char *mal_script_directory = MAL_SCRIPT_DIR;

/* The name of the directory of this process's job; false: it is in none. */
static bool find_directory(char *name, size_t size)
{
	char cgroup[PATH_MAX];
	const char *path = mal_inside_cgroup(cgroup, sizeof(cgroup));
	const char *end = path ? mal_job_path_end(path) : NULL, *start = end;

	while (start && start[-1] != '/')
		start--;
	return start && snprintf(name, size, "%.*s", (int)(end - start), start) < (int)size;
}

int mal_script_make_pipe(const char *path, uid_t user, gid_t group, struct mal_error *err)
{
	int fd = -1;

	/* What has our process number is left over from a dead process. */
	unlink(path);
	if (mkfifo(path, 0600) == 0 && lchown(path, user, group) == 0)
		fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	mal_fail_errno(err, "cannot make %s", path);
	unlink(path);
	return -1;
}

int mal_script_listen(unsigned int job, pid_t slurmstepd, uid_t user, gid_t group,
		      char path[MAL_SCRIPT_PATH], struct mal_error *err)
{
	char name[32];

	/* By number, unless the directory has another name. */
	if (!find_directory(name, sizeof(name)) || strncmp(name, "job_", 4) == 0)
		snprintf(name, sizeof(name), "job_%u", job);
	snprintf(path, MAL_SCRIPT_PATH, "%s/%s.%ld", mal_script_directory, name, (long)slurmstepd);
	return mal_script_make_pipe(path, user, group, err);
}

/* Whether FILE is the name of a pipe of NAME. */
static bool is_pipe_of(const char *file, const char *name)
{
	size_t length = strlen(name);
	unsigned int pid;

	return strncmp(file, name, length) == 0 && file[length] == '.' &&
	       mal_number_parse(file + length + 1, 1, INT_MAX, &pid);
}

enum mal_script_news mal_script_hear(int fd)
{
	unsigned int started = 0, without = 0, all = 0;
	char bytes[4096];
	ssize_t got;

	while (all < QUEUE && (got = read(fd, bytes, sizeof(bytes))) > 0) {
		all += (unsigned int)got;
		while (got-- > 0) {
			started += bytes[got] == STARTED;
			without += bytes[got] == WITHOUT_RANKS;
		}
	}
	if (!started)
		return MAL_SCRIPT_NOTHING;
	/* A full pipe took no more. */
	return without < started || all >= QUEUE ? MAL_SCRIPT_RANKS : MAL_SCRIPT_NO_RANKS;
}

/* The pipe of NAME that we may open. */
static int open_pipe(const char *name)
{
	DIR *directory = opendir(mal_script_directory);
	struct dirent *file;
	int fd = -1, wrong = ENOENT;

	if (!directory)
		return -1;
	while (fd < 0 && (file = readdir(directory)))
		if (is_pipe_of(file->d_name, name)) {
			fd = openat(dirfd(directory), file->d_name,
				    O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
			wrong = errno;
		}
	closedir(directory);
	errno = wrong;
	return fd;
}

/* The environment may have been cleared, and a container may hide the cgroup. */
int mal_script_open(void)
{
	const char *number = getenv("SLURM_JOB_ID"), *sluid = getenv("SLURM_JOB_SLUID");
	char name[32];
	int fd = -1;

	if (number && snprintf(name, sizeof(name), "job_%s", number) < (int)sizeof(name))
		fd = open_pipe(name);
	if (fd < 0 && sluid)
		fd = open_pipe(sluid);
	if (fd < 0 && find_directory(name, sizeof(name)))
		fd = open_pipe(name);
	return fd;
}

/* Our own end reads, too: no SIGPIPE. */
static void tell(int fd, char byte)
{
	if (fd < 0)
		return;
	if (write(fd, &byte, 1) < 0)
		errno = 0;
	close(fd);
}

void mal_script_tell(void)
{
	tell(mal_script_open(), STARTED);
}

void mal_script_tell_no_ranks(unsigned int job)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "job_%u", job);
	fd = open_pipe(name);
	if (fd < 0 && find_directory(name, sizeof(name)))
		fd = open_pipe(name);
	tell(fd, WITHOUT_RANKS);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* script.c: whether a batch script of a balanced job started ranks where the plugin sees them. */
#include "libmalleable/core/script.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/core/inside.h"
#include "libmalleable/core/job_path.h"

/* What is told. */
#define STARTED 's'
#define WITHOUT_RANKS 'w'
/* So many bytes wait in a pipe (pipe(7)). */
#define QUEUE 65536

const char *mal_script_directory = MAL_SCRIPT_DIR;

/* Where the pipe of NAME is. Returns false if that is no name. */
static bool make_path(const char *name, char *path, size_t size)
{
	return *name && !strchr(name, '/') &&
	       snprintf(path, size, "%s/%s", mal_script_directory, name) < (int)size;
}

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

/* Under another name until it is open: a pipe that nobody reads is taken for a dead script's. */
int mal_script_listen(unsigned int job, uid_t user, gid_t group, char path[MAL_SCRIPT_PATH],
		      struct mal_error *err)
{
	char draft[MAL_SCRIPT_PATH], name[32];
	int fd = -1;

	/* By number, unless the directory has another name. */
	if (!find_directory(name, sizeof(name)) || strncmp(name, "job_", 4) == 0)
		snprintf(name, sizeof(name), "job_%u", job);
	make_path(name, path, MAL_SCRIPT_PATH);
	snprintf(name, sizeof(name), ".%ld", (long)getpid());
	make_path(name, draft, sizeof(draft));
	unlink(draft);
	if (mkfifo(draft, 0600) == 0 && lchown(draft, user, group) == 0)
		fd = open(draft, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && rename(draft, path) == 0)
		return fd;
	mal_fail_errno(err, "cannot make %s", path);
	if (fd >= 0)
		close(fd);
	unlink(draft);
	return -1;
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

static int open_pipe(const char *name)
{
	char path[MAL_SCRIPT_PATH];

	return make_path(name, path, sizeof(path))
		       ? open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
		       : -1;
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cpu_claim.c: a file in the user's directory of sockets has a byte for each CPU, which is locked.
 * It is created and removed under a lock of the directory.
 */
#include "libmalleable/cmd/cpu_claim.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "libmalleable/core/rundir.h"

#define FILE_NAME "cpus"

/* Lock COUNT bytes from FIRST on. Returns 0 or -1. */
static int lock(int fd, unsigned int first, unsigned int count)
{
	struct flock range = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = count};

	return fcntl(fd, F_OFD_SETLK, &range);
}

/* The directory, locked, or -1 with ERR. Closing it ends the lock. */
static int open_directory(char *path, size_t size, struct mal_error *err)
{
	int fd;

	if (mal_rundir_find_own(true, path, size, err) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX) == 0)
		return fd;
	mal_fail_errno(err, "cannot lock %.200s", path);
	if (fd >= 0)
		close(fd);
	return -1;
}

static int lock_all(int fd, const struct mal_cpumask *cpus, struct mal_error *err)
{
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(cpus, cpu)) < MAL_MAX_CPUS; cpu++)
		if (lock(fd, cpu, 1) < 0)
			return mal_fail(err,
					"ranks of another launcher have CPU %u: give each "
					"launcher CPUs of its own, as by mpirun --cpu-set 0-3",
					cpu);
	return 0;
}

int mal_cpu_claim(const struct mal_cpumask *cpus, struct mal_error *err)
{
	char path[MAL_SOCKET_PATH];
	int directory = open_directory(path, sizeof(path), err), fd;

	if (directory < 0)
		return -1;
	fd = openat(directory, FILE_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		mal_fail_errno(err, "cannot create %.200s/" FILE_NAME, path);
	} else if (lock_all(fd, cpus, err) < 0) {
		close(fd);
		fd = -1;
	}
	close(directory);
	return fd;
}

void mal_cpu_claim_end(int claim)
{
	char path[MAL_SOCKET_PATH];
	int directory = open_directory(path, sizeof(path), NULL);

	/* With all bytes it is the last. */
	if (directory >= 0 && lock(claim, 0, MAL_MAX_CPUS) == 0) {
		unlinkat(directory, FILE_NAME, 0);
		mal_rundir_leave_own(path);
	}
	close(claim);
	if (directory >= 0)
		close(directory);
}

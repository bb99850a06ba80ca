/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* entries.c: the files of root by which the steps of a job find each other on a node. */
#include "spank/entries.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "spank/plugin.h"

#define ROOT "/run/malleable"
/* Nobody waits longer for another step of the job that is changing the pool. */
#define LOCK_MS 500

static void job_path(unsigned int job, char *path, size_t size)
{
	snprintf(path, size, ROOT "/%u", job);
}

static void entry_path(unsigned int job, unsigned int step, char *path, size_t size)
{
	snprintf(path, size, ROOT "/%u/%u", job, step);
}

/* Root alone may have made it. */
static bool make_directory(const char *path)
{
	struct stat status;

	mkdir(path, 0700);
	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == 0 &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}

static void lock_path(unsigned int job, char *path, size_t size)
{
	snprintf(path, size, ROOT "/%u/lock", job);
}

/* Wait for the lock on FD, for a time: a step of the same job may hang while it has it. */
static bool wait_for_lock(int fd)
{
	const struct timespec pause = {0, 1000000};

	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		if (i == LOCK_MS)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/*
 * The lock of JOB's pool, which is made where CREATE says so. Returns its descriptor, or -1 with ERR. The last step to leave removes it:
 * what was removed while we waited is not it any more.
 */
int balance_entries_lock(unsigned int job, bool create, struct mal_error *err)
{
	for (int i = 0; i < 100; i++) {
		char directory[64], path[64];
		struct stat status;
		int fd;

		job_path(job, directory, sizeof(directory));
		lock_path(job, path, sizeof(path));
		if (create && (!make_directory(ROOT) || !make_directory(directory))) {
			mal_fail(err, "%s is not root's", directory);
			continue;
		}
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
		if (fd < 0 && !(create && errno == ENOENT))
			return mal_fail_errno(err, "cannot open %s", path);
		if (fd < 0)
			continue;
		if (!wait_for_lock(fd)) {
			close(fd);
			return mal_fail(err, "%s is held by another step of the job", path);
		}
		if (fstat(fd, &status) == 0 && status.st_nlink)
			return fd;
		close(fd);
		mal_fail(err, "%s comes and goes", path);
	}
	return -1;
}

bool balance_entry_read(unsigned int job, unsigned int step, struct balance_entry *entry)
{
	char path[64], own[2048], idle[2048];
	FILE *file;
	int got;

	entry_path(job, step, path, sizeof(path));
	file = fopen(path, "re");
	if (!file)
		return false;
	*entry = (struct balance_entry){.step = step};
	got = fscanf(file, "%2047s %2047s %d %u %u", own, idle, &entry->pid, &entry->uid, &entry->pooled);
	fclose(file);
	if (got != 5 || mal_cpumask_parse(own, &entry->own, NULL) < 0)
		return false;
	/* "-" stands for none. */
	return strcmp(idle, "-") == 0 || mal_cpumask_parse(idle, &entry->idle, NULL) == 0;
}

void balance_entry_write(unsigned int job, const struct balance_entry *entry)
{
	char path[64], own[2048], idle[2048];
	FILE *file;

	entry_path(job, entry->step, path, sizeof(path));
	mal_cpumask_format(&entry->own, own, sizeof(own));
	mal_cpumask_format(&entry->idle, idle, sizeof(idle));
	file = fopen(path, "we");
	if (!file ||
	    fprintf(file, "%s %s %d %u %u\n", own, idle[0] ? idle : "-", entry->pid, entry->uid, entry->pooled) < 0)
		slurm_error("balance: cannot write %s", path);
	if (file)
		fclose(file);
}

/* Where the job's cgroup is, for steps that have nothing else to look for. */
static void cgroup_path(unsigned int job, char *path, size_t size)
{
	snprintf(path, size, ROOT "/%u/cgroup", job);
}

void balance_entries_set_cgroup(unsigned int job, const struct balance_cgroup *cgroup)
{
	char path[64];
	FILE *file;

	cgroup_path(job, path, sizeof(path));
	file = fopen(path, "we");
	if (!file || fprintf(file, "%d %s\n", cgroup->v2 ? 2 : 1, cgroup->job) < 0)
		slurm_error("balance: cannot write %s", path);
	if (file)
		fclose(file);
}

bool balance_entries_get_cgroup(unsigned int job, struct balance_cgroup *cgroup)
{
	char path[64], line[PATH_MAX];
	FILE *file;
	bool found;

	cgroup_path(job, path, sizeof(path));
	file = fopen(path, "re");
	if (!file)
		return false;
	found = fgets(line, sizeof(line), file) && (line[0] == '1' || line[0] == '2') && line[1] == ' ';
	fclose(file);
	if (!found)
		return false;
	line[strcspn(line, "\n")] = '\0';
	cgroup->v2 = line[0] == '2';
	snprintf(cgroup->job, sizeof(cgroup->job), "%s", line + 2);
	return true;
}

/* The least step of JOB with an entry, from FROM on; UINT_MAX: there is none. */
static unsigned int find_step(unsigned int job, unsigned int from)
{
	unsigned int found = UINT_MAX;
	struct dirent *file;
	DIR *directory;
	char path[64];

	job_path(job, path, sizeof(path));
	directory = opendir(path);
	while (directory && (file = readdir(directory))) {
		unsigned int step = (unsigned int)strtoul(file->d_name, NULL, 10);

		if (isdigit((unsigned char)file->d_name[0]) && step >= from && step < found)
			found = step;
	}
	if (directory)
		closedir(directory);
	return found;
}

void balance_entry_remove(unsigned int job, unsigned int step)
{
	char path[64];

	entry_path(job, step, path, sizeof(path));
	unlink(path);
	if (find_step(job, 0) != UINT_MAX)
		return;
	cgroup_path(job, path, sizeof(path));
	unlink(path);
	lock_path(job, path, sizeof(path));
	unlink(path);
	job_path(job, path, sizeof(path));
	rmdir(path);
	/* Where no other job has one. */
	rmdir(ROOT);
}

/* The next entry from step *NEXT on whose controller lives; others are removed. False: there is none. */
bool balance_entry_next(unsigned int job, unsigned int *next, struct balance_entry *entry)
{
	unsigned int found;

	while ((found = find_step(job, *next)) != UINT_MAX) {
		*next = found + 1;
		if (balance_entry_read(job, found, entry) &&
		    !(entry->pid > 0 && kill(entry->pid, 0) < 0 && errno == ESRCH))
			return true;
		balance_entry_remove(job, found);
	}
	return false;
}

/* Is there a step with grow=job? */
bool balance_entries_exist(unsigned int job)
{
	char path[64];

	job_path(job, path, sizeof(path));
	return access(path, F_OK) == 0;
}

/* Entries of other jobs whose steps died with their slurmstepd. */
void balance_entries_clean_up(unsigned int own_job)
{
	DIR *directory = opendir(ROOT);
	struct dirent *file;

	while (directory && (file = readdir(directory))) {
		unsigned int job = (unsigned int)strtoul(file->d_name, NULL, 10), next = 0;
		struct balance_entry entry;
		int lock;

		if (!isdigit((unsigned char)file->d_name[0]) || job == own_job)
			continue;
		lock = balance_entries_lock(job, false, NULL);
		while (lock >= 0 && balance_entry_next(job, &next, &entry))
			;
		if (lock >= 0)
			close(lock);
	}
	if (directory)
		closedir(directory);
}

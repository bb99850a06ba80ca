/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * entries.c: root's files by which the steps of a job find each other on a node.
 *
 * Invariant: an entry is written whole or not at all (t/t4605-files.t).
 */
#include "spank/entries.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/input.h"
#include "libmalleable/base/number.h"

/* Stands for an empty value in a file. */
#define NONE "-"
/* Retries if the last step of the job removes the lock file meanwhile. */
#define TRIES 100
/* Longest file. */
#define ENTRY_MAX (2 * MAL_CPUMASK_TEXT + 128)

static void job_path(unsigned int job, char *path, size_t size)
{
	snprintf(path, size, MAL_RUN_DIR "/%u", job);
}

static void file_path(unsigned int job, const char *file, char *path, size_t size)
{
	snprintf(path, size, MAL_RUN_DIR "/%u/%s", job, file);
}

static void entry_path(unsigned int job, unsigned int step, char *path, size_t size)
{
	snprintf(path, size, MAL_RUN_DIR "/%u/%u", job, step);
}

static int make_directory(const char *path, unsigned int mode, struct mal_error *err)
{
	struct stat status;

	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return mal_fail_errno(err, "cannot create %s", path);
	if (lstat(path, &status) < 0 || !S_ISDIR(status.st_mode) || status.st_uid != 0 ||
	    (status.st_mode & (S_IWGRP | S_IWOTH)))
		return mal_fail(err, "%s is not a directory that only root can write to", path);
	if ((status.st_mode & 0777) != mode && chmod(path, mode) < 0)
		return mal_fail_errno(err, "cannot change %s", path);
	return 0;
}

int balance_directory_make(const char *path, unsigned int mode, struct mal_error *err)
{
	return make_directory(MAL_RUN_DIR, 0755, err) < 0 ? -1 : make_directory(path, mode, err);
}

void balance_directory_leave(const char *path)
{
	rmdir(path);
	rmdir(MAL_RUN_DIR);
}

/* Wait for the lock on FD, not for ever: a step of the same job may hang while it holds it. */
static bool wait_for_lock(int fd, int timeout_ms)
{
	const struct timespec pause = {0, 1000000};
	long deadline = mal_now_ms() + timeout_ms;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || mal_now_ms() >= deadline)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

int balance_entries_lock(unsigned int job, bool create, int timeout_ms, struct mal_error *err)
{
	char path[64], directory[64];

	job_path(job, directory, sizeof(directory));
	file_path(job, "lock", path, sizeof(path));
	for (int i = 0; i < TRIES; i++) {
		struct stat status;
		int fd;

		/* The last step of another job may just remove the parent directory. */
		if (create && balance_directory_make(directory, 0700, err) < 0) {
			if (errno == ENOENT && i + 1 < TRIES)
				continue;
			return -1;
		}
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
		if (fd < 0 && !(create && errno == ENOENT)) {
			mal_fail_errno(err, "cannot open %s", path);
			/* Empty: its step was killed before it made the file. */
			balance_directory_leave(directory);
			return -1;
		}
		if (fd < 0)
			continue;
		if (!wait_for_lock(fd, timeout_ms)) {
			close(fd);
			return mal_fail(err, "%s is held by another step of the job", path);
		}
		/*
		 * The last step to leave removes the file: if that happened while we waited, try
		 * the new one.
		 */
		if (fstat(fd, &status) == 0 && status.st_nlink)
			return fd;
		close(fd);
	}
	return mal_fail(err, "other steps keep removing %s", path);
}

bool balance_entry_read(unsigned int job, unsigned int step, struct balance_entry *entry)
{
	char path[64], text[ENTRY_MAX], own[MAL_CPUMASK_TEXT], idle[MAL_CPUMASK_TEXT];
	struct balance_entry found = {.step = step};

	entry_path(job, step, path, sizeof(path));
	mal_input_text(path, text, sizeof(text));
	if (sscanf(text, "%3071s %3071s %u %d %63s", own, idle, &found.pooled, &found.pid,
		   found.socket) != 5 ||
	    mal_cpumask_parse(own, &found.own, NULL) < 0 ||
	    (strcmp(idle, NONE) != 0 && mal_cpumask_parse(idle, &found.idle, NULL) < 0))
		return false;
	if (strcmp(found.socket, NONE) == 0)
		found.socket[0] = '\0';
	*entry = found;
	return true;
}

/* Write FORMAT to JOB's file NAME, atomically. */
__attribute__((format(printf, 4, 5))) static int
write_file(unsigned int job, const char *name, struct mal_error *err, const char *format, ...)
{
	char path[64], draft[64];
	va_list arguments;
	FILE *file;
	int failed;

	file_path(job, name, path, sizeof(path));
	file_path(job, "draft", draft, sizeof(draft));
	unlink(draft);
	file = fopen(draft, "wxe");
	if (!file)
		return mal_fail_errno(err, "cannot write %s", draft);
	va_start(arguments, format);
	failed = vfprintf(file, format, arguments) < 0;
	va_end(arguments);
	/* A full disk may be reported only here. */
	failed |= fclose(file) == EOF;
	if (!failed && rename(draft, path) == 0)
		return 0;
	mal_fail_errno(err, "cannot write %s", path);
	unlink(draft);
	return -1;
}

int balance_entry_write(unsigned int job, const struct balance_entry *entry, struct mal_error *err)
{
	char name[16], own[MAL_CPUMASK_TEXT], idle[MAL_CPUMASK_TEXT];

	snprintf(name, sizeof(name), "%u", entry->step);
	mal_cpumask_format(&entry->own, own, sizeof(own));
	mal_cpumask_format(&entry->idle, idle, sizeof(idle));
	return write_file(job, name, err, "%s %s %u %d %s\n", own, idle[0] ? idle : NONE,
			  entry->pooled, entry->pid, entry->socket[0] ? entry->socket : NONE);
}

int balance_entries_set_cgroup(unsigned int job, const struct balance_cgroup *cgroup,
			       struct mal_error *err)
{
	return write_file(job, "cgroup", err, "%d %s\n", cgroup->v2 ? 2 : 1, cgroup->job);
}

bool balance_entries_get_cgroup(unsigned int job, struct balance_cgroup *cgroup)
{
	unsigned int version = 0;
	char path[64], text[PATH_MAX + 16];
	bool found;

	file_path(job, "cgroup", path, sizeof(path));
	mal_input_text(path, text, sizeof(text));
	found = sscanf(text, "%u %4095[^\n]", &version, cgroup->job) == 2;
	cgroup->v2 = version == 2;
	return found && (version == 1 || version == 2);
}

/* The lowest number from FROM on that names a file in directory PATH; UINT_MAX: none. */
static unsigned int find_number(const char *path, unsigned int from)
{
	DIR *directory = opendir(path);
	unsigned int found = UINT_MAX;
	struct dirent *file;

	while (directory && (file = readdir(directory))) {
		unsigned int number;

		if (mal_number_parse(file->d_name, from, found, &number))
			found = number;
	}
	if (directory)
		closedir(directory);
	return found;
}

bool balance_entries_tidy(unsigned int job)
{
	static const char *const others[] = {"cgroup", "draft", "lock"};
	char path[64], directory[64];

	job_path(job, directory, sizeof(directory));
	if (find_number(directory, 0) != UINT_MAX)
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		file_path(job, others[i], path, sizeof(path));
		unlink(path);
	}
	balance_directory_leave(directory);
	return true;
}

void balance_entry_remove(unsigned int job, unsigned int step)
{
	char path[64];

	entry_path(job, step, path, sizeof(path));
	unlink(path);
	balance_entries_tidy(job);
}

bool balance_entry_next(unsigned int job, unsigned int *next, struct balance_entry *entry)
{
	char directory[64];
	unsigned int found;

	job_path(job, directory, sizeof(directory));
	while ((found = find_number(directory, *next)) != UINT_MAX) {
		*next = found + 1;
		if (balance_entry_read(job, found, entry))
			return true;
		balance_entry_remove(job, found);
	}
	return false;
}

bool balance_entries_next_job(unsigned int *next, unsigned int *job)
{
	*job = find_number(MAL_RUN_DIR, *next);
	*next = *job + 1;
	return *job != UINT_MAX;
}

bool balance_entries_exist(unsigned int job)
{
	char path[64];

	job_path(job, path, sizeof(path));
	return access(path, F_OK) == 0;
}

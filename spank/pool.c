/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pool.c: the idle CPUs of a job on this node. */
#include "spank/pool.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/core/channel.h"
#include "spank/cgroup.h"
#include "spank/plugin.h"

#define ROOT "/run/malleable"
/* A new step waits no longer for a controller to leave its CPUs: then the kernel takes them. */
#define LEAVE_MS 6
#define TELL_MS 50
/* Nor for another step of the job that is changing the pool. */
#define LOCK_MS 500

/* What a file says. */
struct entry {
	unsigned int step;
	struct mal_cpumask own, idle;
	int pid;
	unsigned int uid;
};

struct balance_pool {
	unsigned int job;
	struct entry entry;
	struct balance_cgroup cgroup;
	int lock; /* held until it is settled, -1: not */
};

/* Files and cgroups are root's; some callbacks run with the user's effective id. */
static uid_t become_root(void)
{
	uid_t before = geteuid();

	if (before != 0 && seteuid(0) < 0)
		slurm_error("balance: cannot become root");
	return before;
}

static void become(uid_t uid)
{
	if (uid != 0 && seteuid(uid) < 0)
		slurm_error("balance: cannot return to user %u", (unsigned int)uid);
}

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
static int take_lock(unsigned int job, bool create, struct mal_error *err)
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

static bool read_entry(unsigned int job, unsigned int step, struct entry *entry)
{
	char path[64], own[2048], idle[2048];
	FILE *file;
	int got;

	entry_path(job, step, path, sizeof(path));
	file = fopen(path, "re");
	if (!file)
		return false;
	*entry = (struct entry){.step = step};
	got = fscanf(file, "%2047s %2047s %d %u", own, idle, &entry->pid, &entry->uid);
	fclose(file);
	if (got != 4 || mal_cpumask_parse(own, &entry->own, NULL) < 0)
		return false;
	/* "-" stands for none. */
	return strcmp(idle, "-") == 0 || mal_cpumask_parse(idle, &entry->idle, NULL) == 0;
}

static void write_entry(unsigned int job, const struct entry *entry)
{
	char path[64], own[2048], idle[2048];
	FILE *file;

	entry_path(job, entry->step, path, sizeof(path));
	mal_cpumask_format(&entry->own, own, sizeof(own));
	mal_cpumask_format(&entry->idle, idle, sizeof(idle));
	file = fopen(path, "we");
	if (!file || fprintf(file, "%s %s %d %u\n", own, idle[0] ? idle : "-", entry->pid, entry->uid) < 0)
		slurm_error("balance: cannot write %s", path);
	if (file)
		fclose(file);
}

/* Where the job's cgroup is, for steps that have nothing else to look for. */
static void cgroup_path(unsigned int job, char *path, size_t size)
{
	snprintf(path, size, ROOT "/%u/cgroup", job);
}

static void write_cgroup(unsigned int job, const struct balance_cgroup *cgroup)
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

static bool read_cgroup(unsigned int job, struct balance_cgroup *cgroup)
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

static void remove_entry(unsigned int job, unsigned int step)
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
static bool next_entry(unsigned int job, unsigned int *next, struct entry *entry)
{
	unsigned int found;

	while ((found = find_step(job, *next)) != UINT_MAX) {
		*next = found + 1;
		if (read_entry(job, found, entry) && !(entry->pid > 0 && kill(entry->pid, 0) < 0 && errno == ESRCH))
			return true;
		remove_entry(job, found);
	}
	return false;
}

/* Is there a step with grow=job? */
static bool has_pool(unsigned int job)
{
	char path[64];

	job_path(job, path, sizeof(path));
	return access(path, F_OK) == 0;
}

/* Entries of other jobs whose steps died with their slurmstepd. */
static void clean_up(unsigned int own_job)
{
	DIR *directory = opendir(ROOT);
	struct dirent *file;

	while (directory && (file = readdir(directory))) {
		unsigned int job = (unsigned int)strtoul(file->d_name, NULL, 10), next = 0;
		struct entry entry;
		int lock;

		if (!isdigit((unsigned char)file->d_name[0]) || job == own_job)
			continue;
		lock = take_lock(job, false, NULL);
		while (lock >= 0 && next_entry(job, &next, &entry))
			;
		if (lock >= 0)
			close(lock);
	}
	if (directory)
		closedir(directory);
}

/* Tell the controller of ENTRY: REQUEST, about CPUS where not NULL. */
static bool tell(const struct entry *entry, const char *request, const struct mal_cpumask *cpus, int timeout_ms)
{
	char text[MAL_CHANNEL_REQUEST - 1], list[1024] = "";

	if (cpus)
		mal_cpumask_format(cpus, list, sizeof(list));
	snprintf(text, sizeof(text), "%s%s%s", request, cpus ? " " : "", list);
	return entry->pid > 0 && mal_channel_tell(entry->pid, entry->uid, text, timeout_ms);
}

/* The cgroup of ENTRY's step gets what the entry says. */
static void apply(unsigned int job, const struct balance_cgroup *cgroup, const struct entry *entry)
{
	struct mal_cpumask cpus = entry->own;
	struct mal_error err;

	mal_cpumask_join(&cpus, &entry->idle);
	if (balance_cgroup_write(cgroup, entry->step, &cpus, &err) < 0)
		slurm_error("balance: step %u.%u: %s", job, entry->step, err.text);
	write_entry(job, entry);
	tell(entry, "rebind", NULL, LEAVE_MS);
}

/* Root, with the lock, where there is a pool: then *LOCK is not -1. Returns who we were. */
static uid_t enter(unsigned int job, struct balance_cgroup *cgroup, int *lock)
{
	struct mal_error err;
	uid_t before;

	*lock = -1;
	if (!has_pool(job))
		return geteuid();
	before = become_root();
	*lock = take_lock(job, false, &err);
	if (*lock < 0 && has_pool(job))
		slurm_error("balance: %s", err.text);
	if (*lock >= 0 && !read_cgroup(job, cgroup)) {
		close(*lock);
		*lock = -1;
	}
	return before;
}

static void leave(uid_t before, int lock)
{
	if (lock >= 0)
		close(lock);
	become(before);
}

void balance_pool_claim(unsigned int job, unsigned int step)
{
	struct balance_cgroup cgroup;
	struct mal_cpumask cpus;
	struct entry entry;
	unsigned int next = 0;
	int lock;
	uid_t before = enter(job, &cgroup, &lock);

	if (lock >= 0 && balance_cgroup_read(&cgroup, step, &cpus, NULL) == 0) {
		while (next_entry(job, &next, &entry)) {
			struct mal_cpumask taken = entry.idle;

			mal_cpumask_keep(&taken, &cpus);
			if (entry.step == step || !mal_cpumask_count(&taken))
				continue;
			tell(&entry, "withdraw", &taken, LEAVE_MS);
			mal_cpumask_drop(&entry.idle, &taken);
			apply(job, &cgroup, &entry);
		}
	}
	leave(before, lock);
}

void balance_pool_give(unsigned int job, unsigned int step)
{
	struct balance_cgroup cgroup;
	struct mal_cpumask free_ones, others;
	struct entry entry;
	unsigned int next = 0;
	int lock;
	uid_t before = enter(job, &cgroup, &lock);

	if (lock >= 0 && next_entry(job, &next, &entry) && entry.step != step &&
	    balance_cgroup_read_job(&cgroup, &free_ones, NULL) == 0 &&
	    balance_cgroup_read_others(&cgroup, step, &others, NULL) == 0) {
		mal_cpumask_drop(&free_ones, &others);
		mal_cpumask_join(&entry.idle, &free_ones);
		if (mal_cpumask_count(&free_ones)) {
			apply(job, &cgroup, &entry);
			tell(&entry, "offer", &free_ones, TELL_MS);
		}
	}
	leave(before, lock);
}

struct balance_pool *balance_pool_join(unsigned int job, unsigned int step, const struct mal_cpumask *cpus,
				       struct mal_cpumask *all, struct mal_cpumask *idle, struct mal_error *err)
{
	struct balance_pool *pool = calloc(1, sizeof(*pool));
	uid_t before = become_root();
	struct mal_cpumask others;

	if (!pool) {
		mal_fail(err, "out of memory");
		goto error;
	}
	pool->job = job;
	pool->entry = (struct entry){.step = step, .own = *cpus};
	pool->lock = take_lock(job, true, err);
	if (pool->lock < 0 || balance_cgroup_find(&pool->cgroup, err) < 0 ||
	    balance_cgroup_read_job(&pool->cgroup, all, err) < 0 ||
	    balance_cgroup_read_others(&pool->cgroup, step, &others, err) < 0)
		goto error;
	clean_up(job);
	write_cgroup(job, &pool->cgroup);
	*idle = *all;
	mal_cpumask_drop(idle, cpus);
	mal_cpumask_drop(idle, &others);
	pool->entry.idle = *idle;
	become(before);
	return pool;
error:
	if (pool && pool->lock >= 0) {
		remove_entry(job, step);
		close(pool->lock);
	}
	free(pool);
	become(before);
	return NULL;
}

void balance_pool_settle(struct balance_pool *pool, pid_t pid, uid_t uid)
{
	uid_t before = become_root();

	pool->entry.pid = pid;
	pool->entry.uid = uid;
	if (pid > 0)
		write_entry(pool->job, &pool->entry);
	else
		remove_entry(pool->job, pool->entry.step);
	close(pool->lock);
	pool->lock = -1;
	if (pid <= 0)
		free(pool);
	become(before);
}

int balance_pool_widen(struct balance_pool *pool, const pid_t *tasks, unsigned int count, struct mal_error *err)
{
	struct mal_cpumask before[count], cpus;
	uid_t uid = become_root();
	int lock = take_lock(pool->job, false, err), result = -1;

	if (lock < 0)
		goto out;
	/* Another step may have taken some meanwhile. */
	if (!read_entry(pool->job, pool->entry.step, &pool->entry)) {
		mal_fail(err, "the step's place in %s is gone", ROOT);
		goto out;
	}
	cpus = pool->entry.own;
	mal_cpumask_join(&cpus, &pool->entry.idle);
	for (unsigned int i = 0; i < count; i++)
		mal_cpumask_get_affinity(tasks[i], &before[i]);
	result = balance_cgroup_write(&pool->cgroup, pool->entry.step, &cpus, err);
	for (unsigned int i = 0; i < count; i++)
		mal_cpumask_set_affinity(tasks[i], &before[i]);
out:
	if (lock >= 0)
		close(lock);
	become(uid);
	return result;
}

void balance_pool_leave(struct balance_pool *pool)
{
	uid_t before;
	int lock;

	if (!pool)
		return;
	before = become_root();
	lock = take_lock(pool->job, false, NULL);
	remove_entry(pool->job, pool->entry.step);
	if (lock >= 0)
		close(lock);
	free(pool);
	become(before);
}

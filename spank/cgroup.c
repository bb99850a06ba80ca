/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cgroup.c: the CPUs of a job's cgroup and of its steps'. */
#include "spank/cgroup.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank/plugin.h"

/* Where the hierarchy that has cpusets is mounted. */
static bool find_mount(bool *v2, char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;
	bool found = false;

	while (mounts && !found && (entry = getmntent(mounts))) {
		*v2 = strcmp(entry->mnt_type, "cgroup2") == 0;
		found = strcmp(entry->mnt_type, "cgroup") == 0 && hasmntopt(entry, "cpuset");
		if (*v2) {
			char controllers[PATH_MAX];

			/* Beside v1 it is mounted too, without cpusets. */
			snprintf(controllers, sizeof(controllers), "%s/cgroup.controllers", entry->mnt_dir);
			FILE *file = fopen(controllers, "re");
			char line[256] = "";

			found = file && fgets(line, sizeof(line), file) && strstr(line, "cpuset");
			if (file)
				fclose(file);
		}
		if (found)
			snprintf(path, size, "%s", entry->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* Our cgroup in that hierarchy. */
static bool find_own(bool v2, char *path, size_t size)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':'), *own = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!own)
			continue;
		*own++ = '\0';
		controllers++;
		own[strcspn(own, "\n")] = '\0';
		found = v2 ? !*controllers
			   : strcmp(controllers, "cpuset") == 0 || strstr(controllers, "cpuset,") ||
					strstr(controllers, ",cpuset");
		if (found)
			snprintf(path, size, "%s", own);
	}
	if (file)
		fclose(file);
	return found;
}

int balance_cgroup_find(struct balance_cgroup *cgroup, struct mal_error *err)
{
	char mount[PATH_MAX / 2], own[PATH_MAX / 2], *step;

	if (!find_mount(&cgroup->v2, mount, sizeof(mount)) || !find_own(cgroup->v2, own, sizeof(own)))
		return mal_fail(err, "no cgroup with CPUs");
	step = strstr(own, "/step_");
	if (!step || !strstr(own, "/job_"))
		return mal_fail(err, "%.200s is no step's cgroup", own);
	*step = '\0';
	snprintf(cgroup->job, sizeof(cgroup->job), "%s%s", mount, own);
	return 0;
}

/* FILE of step NUMBER. */
static void step_path(const struct balance_cgroup *cgroup, unsigned int number, const char *file, char *path,
		      size_t size)
{
	snprintf(path, size, "%s/step_%u%s/%s", cgroup->job, number, cgroup->v2 ? "/user" : "", file);
}

static const char *file_to_read(const struct balance_cgroup *cgroup)
{
	return cgroup->v2 ? "cpuset.cpus.effective" : "cpuset.cpus";
}

static int read_file(const char *path, struct mal_cpumask *cpus, struct mal_error *err)
{
	char line[4096] = "";
	FILE *file = fopen(path, "re");

	if (!file)
		return mal_fail_errno(err, "cannot read %.200s", path);
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return mal_cpumask_parse(line, cpus, err);
}

int balance_cgroup_read_job(const struct balance_cgroup *cgroup, struct mal_cpumask *cpus, struct mal_error *err)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", cgroup->job, file_to_read(cgroup));
	return read_file(path, cpus, err);
}

int balance_cgroup_read(const struct balance_cgroup *cgroup, unsigned int number, struct mal_cpumask *cpus,
			struct mal_error *err)
{
	char path[PATH_MAX + 64];

	step_path(cgroup, number, file_to_read(cgroup), path, sizeof(path));
	return read_file(path, cpus, err);
}

int balance_cgroup_read_others(const struct balance_cgroup *cgroup, unsigned int number, struct mal_cpumask *cpus,
			       struct mal_error *err)
{
	DIR *directory = opendir(cgroup->job);
	struct dirent *entry;

	memset(cpus, 0, sizeof(*cpus));
	if (!directory)
		return mal_fail_errno(err, "cannot read %.200s", cgroup->job);
	while ((entry = readdir(directory))) {
		struct mal_cpumask step;
		unsigned long other;

		/* The batch script and the extern step have all of the job's, and wait. */
		if (strncmp(entry->d_name, "step_", 5) != 0 || !isdigit((unsigned char)entry->d_name[5]))
			continue;
		other = strtoul(entry->d_name + 5, NULL, 10);
		if (other < BALANCE_FIRST_SPECIAL_STEP && other != number &&
		    balance_cgroup_read(cgroup, (unsigned int)other, &step, NULL) == 0)
			mal_cpumask_join(cpus, &step);
	}
	closedir(directory);
	return 0;
}

static int write_file(const char *path, const struct mal_cpumask *cpus, struct mal_error *err)
{
	char list[4096];
	int fd, result = -1;

	mal_cpumask_format(cpus, list, sizeof(list));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, list, strlen(list)) == (ssize_t)strlen(list))
		result = 0;
	else
		mal_fail_errno(err, "cannot write %s to %.200s", list, path);
	if (fd >= 0)
		close(fd);
	return result;
}

/*
 * The tasks of step NUMBER may have cpusets of their own below the step's (Slurm 24.11: task_0, task_1, ...), which begin as copies of it
 * under v1 and say nothing under v2. Those that say something get CPUS.
 */
static void write_tasks(const struct balance_cgroup *cgroup, unsigned int number, const struct mal_cpumask *cpus)
{
	char path[PATH_MAX + 64], task[PATH_MAX + 512];
	struct dirent *entry;
	DIR *directory;

	step_path(cgroup, number, "", path, sizeof(path));
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		struct mal_cpumask own;

		if (strncmp(entry->d_name, "task_", 5) != 0)
			continue;
		snprintf(task, sizeof(task), "%s%s/cpuset.cpus", path, entry->d_name);
		if (read_file(task, &own, NULL) == 0 && mal_cpumask_count(&own))
			write_file(task, cpus, NULL);
	}
	if (directory)
		closedir(directory);
}

int balance_cgroup_write(const struct balance_cgroup *cgroup, unsigned int number, const struct mal_cpumask *cpus,
			 struct mal_error *err)
{
	struct mal_cpumask both = *cpus, before;
	char path[PATH_MAX + 64];

	step_path(cgroup, number, "cpuset.cpus", path, sizeof(path));
	/* What is in a cpuset must be in the one above it, before and after. A write costs, and forgets affinities: none that changes nothing. */
	if (read_file(path, &before, NULL) < 0)
		before = (struct mal_cpumask){{0}};
	mal_cpumask_join(&both, &before);
	if (memcmp(&both, &before, sizeof(both)) != 0 && write_file(path, &both, err) < 0)
		return -1;
	write_tasks(cgroup, number, cpus);
	return memcmp(&both, cpus, sizeof(both)) == 0 ? 0 : write_file(path, cpus, err);
}

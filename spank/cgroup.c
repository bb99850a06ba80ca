/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cgroup.c: the CPUs of a job's cgroup and of its steps.
 *
 * Invariant: a cgroup's children are narrowed before it, so no write is refused
 * (t/unit/test_cgroup.c: all_below_become_narrower).
 */
#include "spank/cgroup.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/core/job_path.h"
#include "spank/deadline.h"
#include "spank/hierarchy.h"
#include "spank/plugin.h"

/* How long the cpusets below a step's may take, and how deep they are looked for. */
#define CHILDREN_MS 50
#define LEVELS_MAX 8

int balance_cgroup_find(struct balance_cgroup *cgroup, struct mal_error *err)
{
	struct balance_hierarchy cpusets;
	const char *end;

	if (balance_hierarchy_find("cpuset", &cpusets, err) < 0)
		return -1;
	end = mal_job_path_end(cpusets.own);
	if (!end || strncmp(end, "/step_", 6) != 0)
		return mal_fail(err, "%.200s is not the cgroup of a step", cpusets.own);
	cgroup->v2 = cpusets.v2;
	snprintf(cgroup->job, sizeof(cgroup->job), "%s%.*s", cpusets.mount,
		 (int)(end - cpusets.own), cpusets.own);
	return 0;
}

/*
 * Whether NAME is the directory of a user's step: step_N, or step_N+C for component C of a
 * heterogeneous step.
 */
static bool parse_name(const char *name, unsigned int *number)
{
	unsigned long value;
	char *end;

	/* Not the batch script and the extern step, which have all CPUs of the job and wait. */
	if (strncmp(name, "step_", 5) != 0 || !isdigit((unsigned char)name[5]))
		return false;
	value = strtoul(name + 5, &end, 10);
	if (*end == '+' && isdigit((unsigned char)end[1]))
		strtoul(end + 1, &end, 10);
	*number = (unsigned int)value;
	return !*end && value < BALANCE_FIRST_SPECIAL_STEP;
}

/* The directory of step NUMBER. A node has at most one component of a heterogeneous step. */
static void find_name(const struct balance_cgroup *cgroup, unsigned int number, char *name,
		      size_t size)
{
	char path[PATH_MAX + 64];
	struct dirent *entry;
	DIR *directory;
	unsigned int found;

	snprintf(name, size, "step_%u", number);
	snprintf(path, sizeof(path), "%s/%s", cgroup->job, name);
	if (access(path, F_OK) == 0)
		return;
	directory = opendir(cgroup->job);
	while (directory && (entry = readdir(directory)))
		if (parse_name(entry->d_name, &found) && found == number)
			snprintf(name, size, "%s", entry->d_name);
	if (directory)
		closedir(directory);
}

/* The path of FILE of step NUMBER. */
static void step_path(const struct balance_cgroup *cgroup, unsigned int number, const char *file,
		      char *path, size_t size)
{
	char name[NAME_MAX + 1];

	find_name(cgroup, number, name, sizeof(name));
	snprintf(path, size, "%s/%s%s/%s", cgroup->job, name, cgroup->v2 ? "/user" : "", file);
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

int balance_cgroup_read_job(const struct balance_cgroup *cgroup, struct mal_cpumask *cpus,
			    struct mal_error *err)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", cgroup->job, file_to_read(cgroup));
	return read_file(path, cpus, err);
}

int balance_cgroup_read(const struct balance_cgroup *cgroup, unsigned int number,
			struct mal_cpumask *cpus, struct mal_error *err)
{
	char path[PATH_MAX + 320];

	step_path(cgroup, number, file_to_read(cgroup), path, sizeof(path));
	return read_file(path, cpus, err);
}

int balance_cgroup_read_others(const struct balance_cgroup *cgroup, unsigned int number,
			       struct mal_cpumask *cpus, struct mal_error *err)
{
	DIR *directory = opendir(cgroup->job);
	struct dirent *entry;

	memset(cpus, 0, sizeof(*cpus));
	if (!directory)
		return mal_fail_errno(err, "cannot read %.200s", cgroup->job);
	while ((entry = readdir(directory))) {
		struct mal_cpumask step;
		unsigned int other;

		if (parse_name(entry->d_name, &other) && other != number &&
		    balance_cgroup_read(cgroup, other, &step, NULL) == 0)
			mal_cpumask_union(cpus, &step);
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

/* Whether NAME is a cpuset that Slurm made for a task (24.11: task_0, task_1, ...). */
static bool is_of_task(const char *name)
{
	return strncmp(name, "task_", 5) == 0 && name[5] &&
	       strspn(name + 5, "0123456789") == strlen(name + 5);
}

/*
 * Before a step's cpuset becomes CPUS: those below PATH, the step's directory (LEVEL 0), that have
 * other CPUs get CPUS too, the deepest first, or the kernel refuses (EBUSY). Under v1 the user may
 * have made any number of them: stop at END. Those of tasks follow also where the step grows: under
 * v1 they start as copies of the step's, under v2 all are empty: leave those alone.
 */
static void write_children(const char *path, const struct mal_cpumask *cpus, long end, int level)
{
	char child[PATH_MAX + 640], file[PATH_MAX + 700];
	DIR *directory = opendir(path);
	struct dirent *entry;

	while (directory && mal_now_ms() < end && (entry = readdir(directory))) {
		struct mal_cpumask own, other;

		if (entry->d_name[0] == '.' || entry->d_type != DT_DIR)
			continue;
		if (snprintf(child, sizeof(child), "%s/%s", path, entry->d_name) >=
		    (int)sizeof(child))
			continue;
		snprintf(file, sizeof(file), "%s/cpuset.cpus", child);
		if (read_file(file, &own, NULL) < 0 || !mal_cpumask_count(&own))
			continue;
		other = own;
		mal_cpumask_drop(&other, cpus);
		if (mal_cpumask_count(&other) && level < LEVELS_MAX)
			write_children(child, cpus, end, level + 1);
		if (mal_cpumask_count(&other) ||
		    (level == 0 && is_of_task(entry->d_name) && memcmp(&own, cpus, sizeof(own))))
			write_file(file, cpus, NULL);
	}
	if (directory)
		closedir(directory);
}

int balance_cgroup_write(const struct balance_cgroup *cgroup, unsigned int number,
			 const struct mal_cpumask *cpus, struct mal_error *err)
{
	struct mal_cpumask both = *cpus, before;
	char path[PATH_MAX + 320], children[PATH_MAX + 320];

	step_path(cgroup, number, "cpuset.cpus", path, sizeof(path));
	/*
	 * A cpuset must stay inside its parent's, so widen the step first and narrow it last. Skip
	 * writes that change nothing: they take time and reset affinities.
	 */
	if (read_file(path, &before, NULL) < 0)
		before = (struct mal_cpumask){{0}};
	mal_cpumask_union(&both, &before);
	if (memcmp(&both, &before, sizeof(both)) != 0 && write_file(path, &both, err) < 0)
		return -1;
	step_path(cgroup, number, "", children, sizeof(children));
	write_children(children, cpus, mal_now_ms() + balance_deadline_left(CHILDREN_MS), 0);
	return memcmp(&both, cpus, sizeof(both)) == 0 ? 0 : write_file(path, cpus, err);
}

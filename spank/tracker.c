/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracker.c: the cgroup by which Slurm tracks the processes of a step.
 *
 * Invariant: a controller is in the cgroup that Slurm kills with the step (t/unit/test_cgroup.c:
 * a_step_is_tracked).
 */
#include "spank/tracker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "libmalleable/core/job_path.h"
#include "spank/hierarchy.h"

/* Cut OWN after its step's directory. Returns false if there is none. */
static bool cut_at_step(char *own)
{
	char *step = strstr(own, "/step_");

	if (!step)
		return false;
	step[1 + strcspn(step + 1, "/")] = '\0';
	return true;
}

/*
 * The directory's name, from the cpuset, as it tells the components of a step apart (step_0+1);
 * else by number.
 */
static void name_step(uint32_t step, char *name, size_t size)
{
	struct balance_hierarchy cpusets;

	snprintf(name, size, "/step_%u", step);
	if (balance_hierarchy_find("cpuset", &cpusets, NULL) == 0 && cut_at_step(cpusets.own))
		snprintf(name, size, "%s", strstr(cpusets.own, "/step_"));
}

/* Find the directory of its tasks. Returns false if Slurm tracks processes in another way. */
static bool find_directory(uint32_t step, bool *v2, char *path, size_t size)
{
	struct balance_hierarchy freezer;
	char name[64] = "";

	if (balance_hierarchy_find("freezer", &freezer, NULL) < 0 || !mal_job_path_end(freezer.own))
		return false;
	if (!cut_at_step(freezer.own))
		name_step(step, name, sizeof(name));
	*v2 = freezer.v2;
	snprintf(path, size, "%s%s%s%s", freezer.mount, freezer.own, name,
		 freezer.v2 ? "/user/task_special" : "");
	return true;
}

int balance_tracker_open(uint32_t step, struct mal_error *err)
{
	char path[PATH_MAX + 128];
	bool v2;
	int fd;

	if (!find_directory(step, &v2, path, sizeof(path) - sizeof("/cgroup.procs")))
		return -1;
	/* Slurm creates it before the first task, but only if it does not exist. */
	if (v2 && mkdir(path, 0755) < 0 && errno != EEXIST) {
		mal_fail_errno(err, "cannot create %.200s", path);
		return -2;
	}
	strcat(path, "/cgroup.procs");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	mal_fail_errno(err, "cannot open %.200s", path);
	return -2;
}

bool balance_tracker_is_component(uint32_t step)
{
	char name[64];

	name_step(step, name, sizeof(name));
	return strchr(name, '+') != NULL;
}

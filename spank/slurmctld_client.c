/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slurmctld_client.c: ask slurmctld about jobs, through malleable-slurm.
 *
 * Invariant: partition limits hold even if slurmctld does not answer (t/unit/test_patience.c:
 * each_deadline_is_multiplied; t/t4504-partition.t).
 */
#include "spank/slurmctld_client.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/spawn.h"
#include "spank/cgroup.h"
#include "spank/deadline.h"
#include "spank/plugin.h"

/* How long slurmctld may take. */
#define PARTITION_MS 400
/*
 * Attribute of the job's cgroup, which only root can read or write (xattr(7), trusted attributes),
 * and which goes with the cgroup.
 */
#define ATTRIBUTE "trusted.balance.partition"
#define NAME_SIZE 256

/* Start malleable-slurm as root, with OUTPUT as descriptor 3. Returns its process, or -1. */
static pid_t spawn(uint32_t job, int output)
{
	const char *configuration = getenv("SLURM_CONF");
	char path[640], number[16], variable[1024];
	const char *arguments[] = {"malleable-slurm", number, "3", NULL};
	char *environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL, NULL};

	snprintf(path, sizeof(path), "%s/malleable-slurm", balance_config.libdir);
	snprintf(number, sizeof(number), "%u", job);
	/* Our environment is slurmd's, not the user's. */
	if (configuration && snprintf(variable, sizeof(variable), "SLURM_CONF=%s", configuration) <
				     (int)sizeof(variable))
		environment[2] = variable;
	return mal_spawn(&(struct mal_spawn){.path = path,
					     .arguments = arguments,
					     .environment = environment,
					     .fds = &output,
					     .count = 1});
}

/* Ask slurmctld, within the deadline. */
static bool ask_partition(uint32_t job, char *name, size_t size)
{
	long deadline = mal_now_ms() + balance_deadline_left(PARTITION_MS);
	ssize_t got = -1;
	int ends[2];
	pid_t process;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	process = spawn(job, ends[1]);
	close(ends[1]);
	if (process > 0 && mal_spawn_end(process, deadline) == 0)
		got = read(ends[0], name, size - 1);
	close(ends[0]);
	if (got < 2 || name[got - 1] != '\n')
		return false;
	name[got - 1] = '\0';
	return true;
}

static bool find_partition(uint32_t job, char *name, size_t size)
{
	struct balance_cgroup cgroup;
	bool keeps = balance_cgroup_find(&cgroup, NULL) == 0;
	/* An earlier step of the job may have asked already. */
	ssize_t got = keeps ? getxattr(cgroup.job, ATTRIBUTE, name, size - 1) : 0;

	name[got > 0 ? got : 0] = '\0';
	if (got > 0)
		return true;
	if (!ask_partition(job, name, size))
		return false;
	/* Without attributes in the kernel's cgroups each step asks again. */
	if (keeps)
		setxattr(cgroup.job, ATTRIBUTE, name, strlen(name), 0);
	return true;
}

bool balance_slurmctld_use_partition(uint32_t job)
{
	char name[NAME_SIZE];

	if (!balance_args_have_partitions())
		return true;
	if (find_partition(job, name, sizeof(name))) {
		balance_args_use_partition(name);
		return true;
	}
	balance_info("cannot get the partition of job %u from slurmctld in time: %s", job,
		     balance_args_limit_partitions()
			     ? "partitions have limits, so the step runs unbalanced"
			     : "settings for partitions do not apply to this step");
	return !balance_args_limit_partitions();
}

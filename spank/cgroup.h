/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cgroup.h: the CPUs of a job's cgroup and of its steps', under cgroup v1 and v2.
 *
 * Under v2 Slurm has the tasks of a step in user/ below it, with the step's CPUs, and slurmstepd beside in slurm/, with all of the job's
 * (22.05).
 */
#ifndef MAL_SPANK_CGROUP_H
#define MAL_SPANK_CGROUP_H

#include <limits.h>
#include <stdbool.h>

#include "libmalleable/core/cpumask.h"
#include "libmalleable/core/error.h"

struct balance_cgroup {
	bool v2;
	char job[PATH_MAX]; /* directory */
};

/*
 * Find the job's from this process, which is slurmstepd in its step (user_init). Slurm names them .../job_J/step_S (its cgroup
 * plugins, both versions). Returns 0, or -1 with ERR: there is none.
 */
int balance_cgroup_find(struct balance_cgroup *cgroup, struct mal_error *err);

/* The CPUs of the whole job. Returns 0, or -1 with ERR. */
int balance_cgroup_read_job(const struct balance_cgroup *cgroup, struct mal_cpumask *cpus, struct mal_error *err);

/* The CPUs of step NUMBER. Returns 0, or -1 with ERR: there is no such step (yet, or any more). */
int balance_cgroup_read(const struct balance_cgroup *cgroup, unsigned int number, struct mal_cpumask *cpus,
			struct mal_error *err);

/* The CPUs of all numbered steps but NUMBER. Returns 0, or -1 with ERR. */
int balance_cgroup_read_others(const struct balance_cgroup *cgroup, unsigned int number, struct mal_cpumask *cpus,
			       struct mal_error *err);

/*
 * Set the CPUs of step NUMBER; needs root. Affinities of tasks in it may be undone (Linux before 6.2). Returns 0, or -1 with ERR.
 */
int balance_cgroup_write(const struct balance_cgroup *cgroup, unsigned int number, const struct mal_cpumask *cpus,
			 struct mal_error *err);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cgroup.h: the CPUs of a job's cgroup and of its steps, under cgroup v1 and v2.
 *
 * Slurm names a step's cgroup step_N; that of a heterogeneous step (srun ... : ...) step_N+C, with
 * at most one component C on each node. Under v2 Slurm puts a step's tasks into user/ below it,
 * with the step's CPUs, and slurmstepd into slurm/, with all CPUs of the job (22.05).
 *
 * All functions are for root.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/error.h"

/* A job's cgroup. */
struct balance_cgroup {
	bool v2;
	char job[PATH_MAX]; /* its directory */
};

/*
 * Find the job's cgroup from this process, a slurmstepd in its step's cgroup (user_init), which is
 * .../JOB/step_S (core/job_path.h has the names of JOB). Returns 0, or -1 with ERR.
 */
int balance_cgroup_find(struct balance_cgroup *cgroup, struct mal_error *err);

/* Read the CPUs of the whole job. Returns 0, or -1 with ERR. */
int balance_cgroup_read_job(const struct balance_cgroup *cgroup, struct mal_cpumask *cpus,
			    struct mal_error *err);

/* Read the CPUs of step NUMBER. Returns 0, or -1 with ERR, also if there is no such step. */
int balance_cgroup_read(const struct balance_cgroup *cgroup, unsigned int number,
			struct mal_cpumask *cpus, struct mal_error *err);

/* Read the CPUs of all numbered steps but NUMBER. Returns 0, or -1 with ERR. */
int balance_cgroup_read_others(const struct balance_cgroup *cgroup, unsigned int number,
			       struct mal_cpumask *cpus, struct mal_error *err);

/*
 * Set the CPUs of step NUMBER. May reset the affinities of its tasks (Linux before 6.2). Returns 0,
 * or -1 with ERR.
 */
int balance_cgroup_write(const struct balance_cgroup *cgroup, unsigned int number,
			 const struct mal_cpumask *cpus, struct mal_error *err);

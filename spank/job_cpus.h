/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * job_cpus.h: the idle CPUs of a job on this node, which steps with grow=job use until another step
 * of the job needs them.
 *
 * Steps find each other by root's files (entries.h), which say for each step with grow=job or
 * pool=job the CPUs from Slurm, the further ones it may use, and its controller's socket. A
 * starting step takes its own CPUs out of the latter before its first task is created: it asks the
 * controllers to leave them, and then narrows the other steps' cpusets, so that nothing depends on
 * the answer of a user's process. A controller that ended before its step cannot look after such
 * CPUs: the next step narrows that step's cpuset. A step without grow=job does nothing if the job
 * has no such files.
 *
 * All functions are for root, and wait within balance_deadline_left().
 */
#pragma once

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/error.h"

/* A step's place in its job's pool. */
struct balance_job_cpus;

/*
 * The step starts: take its CPUs from steps that use them as idle ones. Cheap if the job has no
 * such step.
 */
void balance_job_cpus_claim(unsigned int job, unsigned int step);

/*
 * The step has ended: give the CPUs that no step has now to the first step that uses idle ones.
 * Cheap likewise.
 */
void balance_job_cpus_give(unsigned int job, unsigned int step);

/*
 * A step with grow=job, and with CPUS from Slurm, joins. POOLED: it has pool=job, so that it and
 * others with pool=job may use each other's CPUs, as their controllers agree
 * (controller/cpus/pool.h). Returns its place, with the job's CPUs in ALL and those that it may use
 * besides its own in IDLE (possibly none); NULL with ERR on failure. Freed by
 * balance_job_cpus_leave().
 */
struct balance_job_cpus *balance_job_cpus_join(unsigned int job, unsigned int step,
					       const struct mal_cpumask *cpus, bool pooled,
					       struct mal_cpumask *all, struct mal_cpumask *idle,
					       struct mal_error *err);

/*
 * The step's controller listens on SOCKET, a name in MAL_SOCKET_DIR; empty: none, and the
 * place is given up. Returns 0; or -1, with POOL freed: the step keeps to its own CPUs.
 */
int balance_job_cpus_settle(struct balance_job_cpus *pool, const char *socket);

/*
 * The step's COUNT tasks, processes TASKS, wait for their start: widen its cpuset, and keep the
 * tasks' affinities. Returns 0, or -1 with ERR.
 */
int balance_job_cpus_widen(struct balance_job_cpus *pool, const pid_t *tasks, unsigned int count,
			   struct mal_error *err);

/* The step ends. Frees POOL (may be NULL). */
void balance_job_cpus_leave(struct balance_job_cpus *pool);

/*
 * Forget steps of jobs other than OWN_JOB (0: of all) whose controllers have ended. Does not wait
 * for locks.
 */
void balance_job_cpus_clean_up(unsigned int own_job);

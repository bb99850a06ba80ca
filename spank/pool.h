/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pool.h: the idle CPUs of a job on this node, that steps with grow=job use until another step of the job needs them.
 *
 * Steps find each other by files of root (entries.h), which say what CPUs a step with grow=job or pool=job was given by Slurm, which
 * it has beside, and who its controller is. A step that begins takes its CPUs out of these before its first task is made: the
 * controller is asked to leave them, and then the kernel is told: the other step's cgroup is narrowed, so that nothing depends on
 * what a user's process answers. Only where such a directory exists does a step without grow=job do anything.
 */
#ifndef MAL_SPANK_POOL_H
#define MAL_SPANK_POOL_H

#include "libmalleable/core/cpumask.h"
#include "libmalleable/core/error.h"

struct balance_pool;

/* The step begins: take its CPUs from steps that use them as idle ones. Cheap where the job has no such step. */
void balance_pool_claim(unsigned int job, unsigned int step);

/* The step has ended: what nobody has now goes to the first step that uses idle CPUs. Cheap likewise. */
void balance_pool_give(unsigned int job, unsigned int step);

/*
 * A step with grow=job and its own CPUS joins; POOLED: with pool=job, so that others with pool=job and it may use each other's CPUs, as their
 * controllers agree (controller/pool.h). Returns its place, with the job's CPUs in ALL and those that it may use beside its own in IDLE
 * (it may be none), and nobody else can join until it is settled; NULL with ERR.
 */
struct balance_pool *balance_pool_join(unsigned int job, unsigned int step, const struct mal_cpumask *cpus, bool pooled,
				       struct mal_cpumask *all, struct mal_cpumask *idle, struct mal_error *err);

/* Its controller runs as process PID of user UID; 0: it does not, and the place is given up. */
void balance_pool_settle(struct balance_pool *pool, pid_t pid, uid_t uid);

/* Its tasks wait for their start: widen its cgroup. Their affinities stay. TASKS: their processes. */
int balance_pool_widen(struct balance_pool *pool, const pid_t *tasks, unsigned int count, struct mal_error *err);

/* It ends. Frees POOL; NULL-safe. */
void balance_pool_leave(struct balance_pool *pool);

#endif

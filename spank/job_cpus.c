/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * job_cpus.c: the idle CPUs of a job on this node.
 *
 * Invariant: a step takes its CPUs before its first task runs, whatever other controllers answer
 * (t/unit/test_job_cpus.c: new_step_takes_its_cpus_back).
 */
#include "spank/job_cpus.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "spank/cgroup.h"
#include "spank/contained.h"
#include "spank/deadline.h"
#include "spank/entries.h"
#include "spank/plugin.h"
#include "spank/sharers.h"

/* How long a controller may take to note CPUs that it is offered. */
#define TELL_MS 50
/* How long it waits for another step of the job that is changing the pool. */
#define LOCK_MS 300
/* How long a step may take at its start for what other jobs left: they may be very many. */
#define OTHERS_MS 50

struct balance_job_cpus {
	unsigned int job;
	struct balance_entry entry;
	struct balance_cgroup cgroup;
};

/*
 * Take the lock if the job has a pool, and forget steps whose controller ended. Returns -1 if there
 * is no pool or no lock.
 */
static int enter(unsigned int job, struct balance_cgroup *cgroup, int timeout_ms)
{
	struct mal_error err;
	int lock;

	if (!balance_entries_exist(job))
		return -1;
	lock = balance_entries_lock(job, false, timeout_ms, &err);
	if (lock < 0 && timeout_ms && balance_entries_exist(job))
		balance_error("%s", err.text);
	if (lock < 0)
		return -1;
	/* A step that was killed at its start leaves files that no step has. */
	if (!balance_entries_tidy(job) && balance_entries_get_cgroup(job, cgroup)) {
		balance_sharers_forget_ended(job, cgroup);
		return lock;
	}
	close(lock);
	return -1;
}

void balance_job_cpus_claim(unsigned int job, unsigned int step)
{
	struct balance_cgroup cgroup;
	struct mal_cpumask cpus;
	int lock = enter(job, &cgroup, balance_deadline_left(LOCK_MS));

	if (lock < 0)
		return;
	if (balance_cgroup_read(&cgroup, step, &cpus, NULL) == 0)
		balance_sharers_claim(job, step, &cgroup, &cpus);
	close(lock);
}

void balance_job_cpus_give(unsigned int job, unsigned int step)
{
	struct balance_cgroup cgroup;
	struct mal_cpumask free_ones, others;
	struct balance_entry entry;
	unsigned int next = 0;
	int lock = enter(job, &cgroup, balance_deadline_left(LOCK_MS));

	if (lock < 0)
		return;
	if (balance_entry_next(job, &next, &entry) && entry.step != step &&
	    balance_cgroup_read_job(&cgroup, &free_ones, NULL) == 0 &&
	    balance_cgroup_read_others(&cgroup, step, &others, NULL) == 0) {
		mal_cpumask_drop(&free_ones, &others);
		mal_cpumask_union(&entry.idle, &free_ones);
		if (mal_cpumask_count(&free_ones) && balance_sharer_widen(job, &cgroup, &entry)) {
			balance_sharer_tell(&entry, "offer", &free_ones, TELL_MS);
			if (entry.pooled)
				balance_sharers_tell_peers(job);
		}
	}
	close(lock);
}

/*
 * With the lock held: find the job's CPUs, ALL, and those that no step has, IDLE, and write the
 * step's entry. On failure all steps have what they had: others get something only after the last
 * write that may fail.
 */
static int take_place(struct balance_job_cpus *pool, struct mal_cpumask *all,
		      struct mal_cpumask *idle, struct mal_error *err)
{
	struct mal_cpumask others;

	if (balance_cgroup_find(&pool->cgroup, err) < 0 ||
	    balance_cgroup_read_job(&pool->cgroup, all, err) < 0 ||
	    balance_cgroup_read_others(&pool->cgroup, pool->entry.step, &others, err) < 0 ||
	    balance_entries_set_cgroup(pool->job, &pool->cgroup, err) < 0)
		return -1;
	balance_sharers_forget_ended(pool->job, &pool->cgroup);
	*idle = *all;
	mal_cpumask_drop(idle, &pool->entry.own);
	mal_cpumask_drop(idle, &others);
	pool->entry.idle = *idle;
	if (pool->entry.pooled)
		balance_sharers_add_to(pool->job, &pool->entry);
	if (balance_entry_write(pool->job, &pool->entry, err) < 0)
		return -1;
	if (pool->entry.pooled)
		balance_sharers_widen(pool->job, &pool->cgroup, &pool->entry);
	return 0;
}

struct balance_job_cpus *balance_job_cpus_join(unsigned int job, unsigned int step,
					       const struct mal_cpumask *cpus, bool pooled,
					       struct mal_cpumask *all, struct mal_cpumask *idle,
					       struct mal_error *err)
{
	struct balance_job_cpus *pool = calloc(1, sizeof(*pool));
	int lock = -1;

	if (!pool) {
		mal_fail(err, "out of memory");
		return NULL;
	}
	balance_job_cpus_clean_up(job);
	pool->job = job;
	pool->entry = (struct balance_entry){.step = step,
					     .own = *cpus,
					     .pooled = pooled,
					     .pid = balance_contained_slurmstepd()};
	lock = balance_entries_lock(job, true, balance_deadline_left(LOCK_MS), err);
	if (lock < 0 || take_place(pool, all, idle, err) < 0) {
		if (lock >= 0)
			balance_entry_remove(job, step);
		free(pool);
		pool = NULL;
	}
	if (lock >= 0)
		close(lock);
	return pool;
}

/* No controller looks after the step's CPUs: other steps must not use them. */
static void give_up(struct balance_job_cpus *pool)
{
	if (pool->entry.pooled)
		balance_sharers_claim(pool->job, pool->entry.step, &pool->cgroup, &pool->entry.own);
	balance_entry_remove(pool->job, pool->entry.step);
}

int balance_job_cpus_settle(struct balance_job_cpus *pool, const char *socket)
{
	struct mal_cpumask lost = pool->entry.idle;
	struct mal_error err;
	int lock = balance_entries_lock(pool->job, false, balance_deadline_left(LOCK_MS), &err),
	    result = -1;

	/* The file says which CPUs other steps have taken meanwhile. */
	if (lock < 0 || !balance_entry_read(pool->job, pool->entry.step, &pool->entry)) {
		balance_error("%s", lock < 0 ? err.text : "the step's files are gone");
		balance_entry_remove(pool->job, pool->entry.step);
	} else if (!*socket) {
		give_up(pool);
	} else {
		snprintf(pool->entry.socket, sizeof(pool->entry.socket), "%s", socket);
		balance_sharer_write(pool->job, &pool->entry);
		mal_cpumask_drop(&lost, &pool->entry.idle);
		if (mal_cpumask_count(&lost))
			balance_sharer_tell(&pool->entry, "withdraw", &lost, BALANCE_LEAVE_MS);
		if (pool->entry.pooled)
			balance_sharers_tell_peers(pool->job);
		result = 0;
	}
	if (lock >= 0)
		close(lock);
	if (result < 0)
		free(pool);
	return result;
}

int balance_job_cpus_widen(struct balance_job_cpus *pool, const pid_t *tasks, unsigned int count,
			   struct mal_error *err)
{
	struct mal_cpumask *before = calloc(count, sizeof(*before)), cpus;
	int lock = balance_entries_lock(pool->job, false, balance_deadline_left(LOCK_MS), err),
	    result = -1;

	if (!before || lock < 0) {
		if (!before)
			mal_fail(err, "out of memory");
		goto out;
	}
	/* Another step may have taken CPUs meanwhile. */
	if (!balance_entry_read(pool->job, pool->entry.step, &pool->entry)) {
		mal_fail(err, "the step's files are gone");
		goto out;
	}
	cpus = pool->entry.own;
	mal_cpumask_union(&cpus, &pool->entry.idle);
	/* A task that has ended has no affinity to keep. */
	for (unsigned int i = 0; i < count; i++)
		if (mal_cpumask_get_affinity(tasks[i], &before[i]) < 0)
			before[i] = (struct mal_cpumask){{0}};
	result = balance_cgroup_write(&pool->cgroup, pool->entry.step, &cpus, err);
	for (unsigned int i = 0; i < count; i++)
		if (mal_cpumask_count(&before[i]))
			mal_cpumask_set_affinity(tasks[i], &before[i]);
out:
	if (lock >= 0)
		close(lock);
	free(before);
	return result;
}

void balance_job_cpus_leave(struct balance_job_cpus *pool)
{
	int lock;

	if (!pool)
		return;
	lock = balance_entries_lock(pool->job, false, balance_deadline_left(LOCK_MS), NULL);
	balance_entry_remove(pool->job, pool->entry.step);
	if (pool->entry.pooled)
		balance_sharers_tell_peers(pool->job);
	if (lock >= 0)
		close(lock);
	free(pool);
}

void balance_job_cpus_clean_up(unsigned int own_job)
{
	/* slurmd has nothing else to do at its start. */
	long before = balance_deadline_shorten(own_job ? OTHERS_MS : INT_MAX);
	unsigned int next = 0, job;

	while (balance_deadline_left(1) && balance_entries_next_job(&next, &job)) {
		struct balance_cgroup cgroup;
		int lock;

		/* Do not wait for another job's lock: its holder cleans up that job itself. */
		if (job == own_job || (lock = enter(job, &cgroup, 0)) < 0)
			continue;
		close(lock);
	}
	balance_deadline_restore(before);
}

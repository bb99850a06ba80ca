/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pool.c: the idle CPUs of a job on this node. */
#include "spank/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/core/channel.h"
#include "spank/cgroup.h"
#include "spank/entries.h"
#include "spank/identity.h"
#include "spank/plugin.h"

/* A new step waits no longer for a controller to leave its CPUs: then the kernel takes them. */
#define LEAVE_MS 6
#define TELL_MS 50

struct balance_pool {
	unsigned int job;
	struct balance_entry entry;
	struct balance_cgroup cgroup;
	int lock; /* held until it is settled, -1: not */
};

/* Tell the controller of ENTRY: REQUEST, about CPUS where not NULL. */
static bool tell(const struct balance_entry *entry, const char *request, const struct mal_cpumask *cpus, int timeout_ms)
{
	char text[MAL_CHANNEL_REQUEST - 1], list[1024] = "";

	if (cpus)
		mal_cpumask_format(cpus, list, sizeof(list));
	snprintf(text, sizeof(text), "%s%s%s", request, cpus ? " " : "", list);
	return entry->pid > 0 && mal_channel_tell(entry->pid, entry->uid, text, timeout_ms);
}

/* The cgroup of ENTRY's step gets what the entry says. */
static void apply(unsigned int job, const struct balance_cgroup *cgroup, const struct balance_entry *entry)
{
	struct mal_cpumask cpus = entry->own;
	struct mal_error err;

	mal_cpumask_join(&cpus, &entry->idle);
	if (balance_cgroup_write(cgroup, entry->step, &cpus, &err) < 0)
		slurm_error("balance: step %u.%u: %s", job, entry->step, err.text);
	balance_entry_write(job, entry);
	tell(entry, "rebind", NULL, LEAVE_MS);
}

/* The controllers of steps with pool=job are told who there is, and who may use what. */
static void tell_peers(unsigned int job)
{
	char text[MAL_CHANNEL_REQUEST - 1] = "peers", own[1024], may[1024];
	struct balance_entry entry;
	unsigned int next = 0;
	size_t used = strlen(text);

	while (used < sizeof(text) && balance_entry_next(job, &next, &entry)) {
		struct mal_cpumask all = entry.own;

		mal_cpumask_join(&all, &entry.idle);
		if (entry.pooled)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %d:%s:%s", entry.pid,
						 mal_cpumask_format(&entry.own, own, sizeof(own)),
						 mal_cpumask_format(&all, may, sizeof(may)));
	}
	if (used >= sizeof(text)) {
		slurm_error("balance: pool=job: too many steps in job %u", job);
		return;
	}
	for (next = 0; balance_entry_next(job, &next, &entry);)
		if (entry.pooled)
			tell(&entry, text, NULL, LEAVE_MS);
}

/* Root, with the lock, where there is a pool: then *LOCK is not -1. Returns who we were. */
static uid_t enter(unsigned int job, struct balance_cgroup *cgroup, int *lock)
{
	struct mal_error err;
	uid_t before;

	*lock = -1;
	if (!balance_entries_exist(job))
		return geteuid();
	before = balance_become_root();
	*lock = balance_entries_lock(job, false, &err);
	if (*lock < 0 && balance_entries_exist(job))
		slurm_error("balance: %s", err.text);
	if (*lock >= 0 && !balance_entries_get_cgroup(job, cgroup)) {
		close(*lock);
		*lock = -1;
	}
	return before;
}

static void leave(uid_t before, int lock)
{
	if (lock >= 0)
		close(lock);
	balance_become(before);
}

/* All but STEP itself leave CPUS. */
static void claim(unsigned int job, unsigned int step, const struct balance_cgroup *cgroup,
		  const struct mal_cpumask *cpus)
{
	struct balance_entry entry;
	unsigned int next = 0;
	bool pooled = false;

	while (balance_entry_next(job, &next, &entry)) {
		struct mal_cpumask taken = entry.idle;

		mal_cpumask_keep(&taken, cpus);
		if (entry.step == step || !mal_cpumask_count(&taken))
			continue;
		pooled |= entry.pooled != 0;
		tell(&entry, "withdraw", &taken, LEAVE_MS);
		mal_cpumask_drop(&entry.idle, &taken);
		apply(job, cgroup, &entry);
	}
	if (pooled)
		tell_peers(job);
}

void balance_pool_claim(unsigned int job, unsigned int step)
{
	struct balance_cgroup cgroup;
	struct mal_cpumask cpus;
	int lock;
	uid_t before = enter(job, &cgroup, &lock);

	if (lock >= 0 && balance_cgroup_read(&cgroup, step, &cpus, NULL) == 0)
		claim(job, step, &cgroup, &cpus);
	leave(before, lock);
}

/* A step with pool=job comes: what it has the others may use, and it what they have. */
static void widen_others(unsigned int job, const struct balance_cgroup *cgroup, struct balance_entry *own)
{
	struct balance_entry entry;
	unsigned int next = 0;

	while (balance_entry_next(job, &next, &entry)) {
		if (!entry.pooled || entry.step == own->step)
			continue;
		mal_cpumask_join(&own->idle, &entry.own);
		mal_cpumask_join(&entry.idle, &own->own);
		apply(job, cgroup, &entry);
	}
}

void balance_pool_give(unsigned int job, unsigned int step)
{
	struct balance_cgroup cgroup;
	struct mal_cpumask free_ones, others;
	struct balance_entry entry;
	unsigned int next = 0;
	int lock;
	uid_t before = enter(job, &cgroup, &lock);

	if (lock >= 0 && balance_entry_next(job, &next, &entry) && entry.step != step &&
	    balance_cgroup_read_job(&cgroup, &free_ones, NULL) == 0 &&
	    balance_cgroup_read_others(&cgroup, step, &others, NULL) == 0) {
		mal_cpumask_drop(&free_ones, &others);
		mal_cpumask_join(&entry.idle, &free_ones);
		if (mal_cpumask_count(&free_ones)) {
			apply(job, &cgroup, &entry);
			tell(&entry, "offer", &free_ones, TELL_MS);
			if (entry.pooled)
				tell_peers(job);
		}
	}
	leave(before, lock);
}

struct balance_pool *balance_pool_join(unsigned int job, unsigned int step, const struct mal_cpumask *cpus, bool pooled,
				       struct mal_cpumask *all, struct mal_cpumask *idle, struct mal_error *err)
{
	struct balance_pool *pool = calloc(1, sizeof(*pool));
	uid_t before = balance_become_root();
	struct mal_cpumask others;

	if (!pool) {
		mal_fail(err, "out of memory");
		goto error;
	}
	pool->job = job;
	pool->entry = (struct balance_entry){.step = step, .own = *cpus, .pooled = pooled};
	pool->lock = balance_entries_lock(job, true, err);
	if (pool->lock < 0 || balance_cgroup_find(&pool->cgroup, err) < 0 ||
	    balance_cgroup_read_job(&pool->cgroup, all, err) < 0 ||
	    balance_cgroup_read_others(&pool->cgroup, step, &others, err) < 0)
		goto error;
	balance_entries_clean_up(job);
	balance_entries_set_cgroup(job, &pool->cgroup);
	*idle = *all;
	mal_cpumask_drop(idle, cpus);
	mal_cpumask_drop(idle, &others);
	pool->entry.idle = *idle;
	if (pooled)
		widen_others(job, &pool->cgroup, &pool->entry);
	balance_become(before);
	return pool;
error:
	if (pool && pool->lock >= 0) {
		balance_entry_remove(job, step);
		close(pool->lock);
	}
	free(pool);
	balance_become(before);
	return NULL;
}

/* Nobody looks after its CPUs: others must not use them. */
static void give_up(struct balance_pool *pool)
{
	if (pool->entry.pooled)
		claim(pool->job, pool->entry.step, &pool->cgroup, &pool->entry.own);
	balance_entry_remove(pool->job, pool->entry.step);
}

void balance_pool_settle(struct balance_pool *pool, pid_t pid, uid_t uid)
{
	uid_t before = balance_become_root();

	pool->entry.pid = pid;
	pool->entry.uid = uid;
	if (pid > 0)
		balance_entry_write(pool->job, &pool->entry);
	else
		give_up(pool);
	if (pid > 0 && pool->entry.pooled)
		tell_peers(pool->job);
	close(pool->lock);
	pool->lock = -1;
	if (pid <= 0)
		free(pool);
	balance_become(before);
}

int balance_pool_widen(struct balance_pool *pool, const pid_t *tasks, unsigned int count, struct mal_error *err)
{
	struct mal_cpumask before[count], cpus;
	uid_t uid = balance_become_root();
	int lock = balance_entries_lock(pool->job, false, err), result = -1;

	if (lock < 0)
		goto out;
	/* Another step may have taken some meanwhile. */
	if (!balance_entry_read(pool->job, pool->entry.step, &pool->entry)) {
		mal_fail(err, "the files of the step are gone");
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
	balance_become(uid);
	return result;
}

void balance_pool_leave(struct balance_pool *pool)
{
	uid_t before;
	int lock;

	if (!pool)
		return;
	before = balance_become_root();
	lock = balance_entries_lock(pool->job, false, NULL);
	balance_entry_remove(pool->job, pool->entry.step);
	if (pool->entry.pooled)
		tell_peers(pool->job);
	if (lock >= 0)
		close(lock);
	free(pool);
	balance_become(before);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* run.c: the table's lock, and the sleep until the work is done. */
#include "run.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cores.h"

/* How often a thread that is not alone looks: for an idle core, for threads that were killed. */
#define LOOK_IDLE_NS 1000000u
#define LOOK_KILLED_NS 50000000u
#define LATE_NS 100000u
/* By how much a work begins earlier at most after a wait. */
#define MOST_NS 1000000u
#define SPINS 200
#define SPINS_AND_NAPS 1200

static __thread uint64_t late, woke; /* by how much, and when, its last work ended */

static bool is_gone(uint32_t tid)
{
	return kill((pid_t)tid, 0) < 0 && errno == ESRCH;
}

void node_lock(struct node_table *table, uint32_t self)
{
	const struct timespec nap = {0, 20000};
	uint32_t owner = 0;

	for (int i = 1; !atomic_compare_exchange_weak(&table->lock, &owner, self); i++) {
		if (i > SPINS)
			nanosleep(&nap, NULL);
		if (i > SPINS_AND_NAPS && owner && is_gone(owner) &&
		    atomic_compare_exchange_strong(&table->lock, &owner, self))
			return;
		owner = 0;
	}
}

void node_unlock(struct node_table *table)
{
	atomic_store(&table->lock, 0);
}

static void sleep_until(struct node_thread *thread, uint32_t bell, uint64_t moment)
{
	struct timespec time = {(time_t)(moment / 1000000000u), (long)(moment % 1000000000u)};

	syscall(SYS_futex, &thread->bell, FUTEX_WAIT_BITSET, bell, &time, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

/* Threads that were killed keep a core until somebody looks. */
static void drop_killed(struct node_table *table, const struct node_core *core, uint64_t now)
{
	uint32_t next;

	for (uint32_t tid = core->first; tid; tid = next) {
		next = table->thread[tid].next;
		if (is_gone(tid))
			node_drop(table, tid, now);
	}
}

/* Not alone: until when to sleep at most, after a look at NOW. */
static uint64_t look_around(struct node_table *table, uint32_t self, uint64_t now)
{
	struct node_thread *thread = &table->thread[self];
	struct node_core *core = &table->core[thread->core - 1];

	if (core->first == self && !thread->next)
		return UINT64_MAX;
	drop_killed(table, core, now);
	if (node_mask_weight(&thread->mask) == 1)
		return now + LOOK_KILLED_NS;
	node_balance(table, self, now);
	return now + LOOK_IDLE_NS;
}

/* Sleep until the work that began is done. Returns how often. */
static unsigned int sleep_off(struct node_table *table, uint32_t self, uint64_t *now)
{
	struct node_thread *thread = &table->thread[self];
	unsigned int sleeps = 0;

	while (thread->working) {
		uint32_t bell = atomic_load(&thread->bell);
		uint64_t look = look_around(table, self, *now), end = node_end(table, self);

		if (end > *now) {
			node_unlock(table);
			sleep_until(thread, bell, end < look ? end : look);
			*now = node_now();
			node_lock(table, self);
			sleeps++;
		}
		/* Its turn ends then, and others may have the core from then on. */
		node_count(table, thread->core - 1, *now < end ? *now : end);
	}
	return sleeps;
}

unsigned int node_run(struct node_table *table, uint32_t self, uint64_t ns)
{
	struct node_thread *thread = &table->thread[self];
	uint64_t now = node_now();
	bool waited = now > woke + NODE_STAYS_NS;
	unsigned int sleeps;

	if (!waited)
		thread->made_good += late;
	if (waited && late > MOST_NS)
		late = MOST_NS;
	node_lock(table, self);
	node_begin(table, self, ns, now - late);
	sleeps = sleep_off(table, self, &now);
	node_unlock(table);
	late = now - thread->ended;
	woke = now;
	thread->late += late;
	if (sleeps) {
		atomic_fetch_add(&table->wakeups, 1);
		atomic_fetch_add(&table->late_wakeups, late > LATE_NS);
	}
	return sleeps;
}

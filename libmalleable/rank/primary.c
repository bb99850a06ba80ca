/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * primary.c: which thread is the primary one.
 *
 * Invariant: at most one thread is the primary one, and it is one that the program uses
 * (t/unit/test_attach.c: thread_that_opens_regions_is_primary).
 */
#include "libmalleable/rank/primary.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/fpstate.h"
#include "libmalleable/rank/cpus/sibling_threads.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/program/runtime.h"
#include "libmalleable/rank/state/primary_thread.h"
#include "libmalleable/rank/team.h"

/*
 * How long threads that open regions wait for the first one to sleep, all together. A thread that
 * did not become the primary one will not: the program may have been told of its team.
 */
#define MOMENTS 100
#define MOMENT_NS 100000

__thread struct mal_thread mal_self;

/*
 * Whether thread OLD has ended; or is the first, has opened no region, and sleeps in code of the
 * program. Asleep it is not between reading that it is the primary one and writing that it begins
 * something.
 */
static bool is_vacant(const struct mal_rank *rank, int32_t old)
{
	const volatile struct mal_thread *thread = rank->primary.first;

	if (old != getpid())
		return old == MAL_PRIMARY_ENDED;
	return thread && !rank->region.depth && !rank->region.begin && mal_thread_sleeps(old) &&
	       !thread->mpi_depth && !thread->testing;
}

/* It may be about to wait for the thread that it has just made. */
static bool becomes_vacant(const struct mal_rank *rank, int32_t old)
{
	static _Atomic int moments = MOMENTS;

	while (!is_vacant(rank, old)) {
		if (old != getpid() || rank->region.begin || atomic_fetch_sub(&moments, 1) <= 0)
			return false;
		nanosleep(&(struct timespec){0, MOMENT_NS}, NULL);
	}
	return true;
}

/* Thread OLD is the primary one no more. Returns false if it has woken up: it still is then. */
static bool dismiss(struct mal_rank *rank, int32_t old)
{
	if (old != getpid())
		return true;
	rank->primary.first->primary = false;
	/* It sees that should it wake up now. */
	atomic_thread_fence(memory_order_seq_cst);
	if (is_vacant(rank, old)) {
		rank->primary.first->considered_primary = false;
		return true;
	}
	rank->primary.first->primary = true;
	mal_primary_set(rank, old);
	return false;
}

static bool take_over(struct mal_rank *rank, int32_t old)
{
	const struct mal_runtime *runtime = mal_runtime_managed();
	struct mal_fpstate saved = mal_fpstate_save();
	bool taken;

	/* Not inside a region of another thread. */
	taken = !(runtime->get_level && runtime->get_level()) && becomes_vacant(rank, old) &&
		mal_primary_replace(rank, &old, mal_self.tid) && dismiss(rank, old);
	mal_fpstate_restore(&saved);
	if (!taken)
		return false;
	atomic_store(&rank->slot->foreign_threads, 0);
	mal_team_forget(rank);
	return true;
}

bool mal_become_primary(struct mal_rank *rank)
{
	int32_t old = 0;

	mal_self.considered_primary = true;
	mal_self.tid = (int32_t)syscall(SYS_gettid);
	if (!mal_primary_replace(rank, &old, mal_self.tid) && !take_over(rank, old))
		return false;
	mal_threads_spare_self();
	if (mal_self.tid == getpid())
		mal_primary_is_first(rank, &mal_self);
	mal_self.primary = true;
	mal_primary_left(rank, mal_ticks());
	return true;
}

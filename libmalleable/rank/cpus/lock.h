/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lock.h: the lock of a rank's lists of CPUs (mal_rank.cpus), and of lending its CPUs.
 *
 * Any thread may lend, borrow and return for its rank. The lock is held for as long as that takes,
 * microseconds, and for a look at the other threads. A thread that has it may take it again, but
 * not mal_rank.watch.taken, which goes first.
 *
 * Invariant: a jump out of what holds it leaves it free (t/unit/test_wait_helper.c:
 * jumps_leave_the_lock).
 */
#pragma once

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/rank/state/rank.h"

/* The number of the calling thread. */
static inline int32_t mal_own_tid(void)
{
	if (!mal_self.tid)
		mal_self.tid = (int32_t)syscall(SYS_gettid);
	return mal_self.tid;
}

/* Returns whether the caller has to unlock it: it did not have it before. */
static inline bool mal_cpus_lock(struct mal_rank *rank)
{
	int32_t self = mal_own_tid(), holder = 0;

	if (atomic_load_explicit(&rank->lock.holder, memory_order_relaxed) == self)
		return false;
	for (; !atomic_compare_exchange_strong(&rank->lock_own.holder, &holder, self); holder = 0)
		syscall(SYS_sched_yield);
	return true;
}

static inline void mal_cpus_unlock(struct mal_rank *rank, bool locked)
{
	if (locked)
		atomic_store_explicit(&rank->lock_own.holder, 0, memory_order_release);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * changes.h: a rank's CPUs have changed: it is counted, and who waits for that is woken.
 *
 * Safe between threads and processes. Nobody waits for anything here.
 *
 * Invariant: who slept when CPUs changed has been woken (t/unit/test_team.c: waits_for_changes).
 */
#pragma once

#include <limits.h>

#include "libmalleable/base/futex.h"
#include "libmalleable/core/segment.h"

/*
 * The CPUs of the rank in SLOT, or its plan, have changed. Returns how often they did so far. Who
 * is about to sleep counts itself first, then reads the count: so one of the two sees the other.
 */
static inline uint32_t mal_changes_add(struct mal_rank_slot *slot)
{
	uint32_t count = atomic_fetch_add(&slot->changes, 1) + 1;

	if (atomic_load(&slot->sleepers))
		mal_futex_wake(&slot->changes, INT_MAX);
	return count;
}

/* Sleep while the count is SEEN, for TIMEOUT_NS at most. May return early. */
static inline void mal_changes_sleep(struct mal_rank_slot *slot, uint32_t seen, uint64_t timeout_ns)
{
	atomic_fetch_add(&slot->sleepers, 1);
	if (atomic_load(&slot->changes) == seen)
		mal_futex_wait(&slot->changes, seen, timeout_ns);
	atomic_fetch_sub(&slot->sleepers, 1);
}

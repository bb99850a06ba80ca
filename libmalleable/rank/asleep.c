/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * asleep.c: lend while all threads of the process sleep.
 *
 * Invariant: when a thread ends such a wait, and when the primary thread goes on, all CPUs are back
 * (t/unit/test_wait_helper.c: any_thread_at_any_moment).
 *
 * Who lends notes that first, then looks whether all sleep, and has the lock all the while; who
 * wakes up reads what was noted. So it sees that CPUs are lent and takes them back, or is seen.
 */
#include "libmalleable/rank/asleep.h"

#include "libmalleable/base/fpstate.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/cpus/lock.h"
#include "libmalleable/rank/cpus/sibling_threads.h"
#include "libmalleable/rank/lend.h"
#include "libmalleable/rank/state/rank.h"

/* While nobody would borrow, look again after this part of the wait so far. */
#define LOOK_PART 8

/* Whether the primary thread, asleep, is in nothing in which the rank lends for it or computes. */
static bool primary_is_idle(const struct mal_rank *rank)
{
	return !__atomic_load_n(&rank->region.depth, __ATOMIC_RELAXED) &&
	       atomic_load(&rank->helper.wait) % MAL_WAIT_STATES == MAL_WAIT_NOT &&
	       !atomic_load(&rank->slot->waiting_since);
}

/* Whether nobody has begun or ended a wait since the last look. */
static bool goes_on(const struct mal_rank *rank)
{
	return atomic_load(&rank->asleep.waits) == rank->asleep.seen && rank->active;
}

static bool all_sleep(struct mal_rank *rank)
{
	return goes_on(rank) && primary_is_idle(rank) && mal_all_sleep(rank);
}

static bool lend(struct mal_rank *rank, uint64_t now)
{
	if (!all_sleep(rank))
		return false;
	atomic_store(&rank->lends_asleep, true);
	mal_cpus_outdate(rank);
	if (!all_sleep(rank)) {
		atomic_store(&rank->lends_asleep, false);
		return false;
	}
	rank->asleep_own.watched = now;
	mal_lend_asleep(rank, now);
	return true;
}

/* CPUs are lent: take them back if a thread computes, or offer them to who asks now. */
static bool lend_on(struct mal_rank *rank, uint64_t now)
{
	uint64_t ns = (uint64_t)(mal_ticks_to_s(now - rank->asleep.watched) * 1e9);

	rank->asleep_own.watched = now;
	if (!goes_on(rank) || mal_others_compute(rank, ns)) {
		mal_lend_wake(rank);
		return false;
	}
	mal_lend_asleep(rank, now);
	return true;
}

void mal_asleep_look(struct mal_rank *rank)
{
	uint64_t waits = atomic_load(&rank->asleep.waits), now = mal_ticks(), lasts;
	bool locked;

	if (waits != rank->asleep.seen) {
		rank->asleep_own.seen = waits;
		rank->asleep_own.since = now;
		rank->asleep_own.next = now + rank->lend.after;
		return;
	}
	if (!(waits % MAL_ASLEEP_BEGUN) || now < rank->asleep.next)
		return;
	lasts = now - rank->asleep.since;
	rank->asleep_own.next =
		now + (lasts / LOOK_PART > rank->lend.watch_every ? lasts / LOOK_PART
								  : rank->lend.watch_every);
	if (!atomic_load(&rank->lends_asleep) && !mal_lend_concerns_others(rank))
		return;
	locked = mal_cpus_lock(rank);
	if (atomic_load(&rank->lends_asleep) ? lend_on(rank, now) : lend(rank, now))
		rank->asleep_own.next = now + rank->lend.watch_every;
	else
		/* Look again at twice the wait. */
		rank->asleep_own.next = now + lasts;
	mal_cpus_unlock(rank, locked);
}

uint64_t mal_asleep_pause(const struct mal_rank *rank)
{
	uint64_t waits = atomic_load(&rank->asleep.waits), now;

	if (!rank->active || !(waits % MAL_ASLEEP_BEGUN))
		return UINT64_MAX;
	now = mal_ticks();
	if (waits != rank->asleep.seen || now >= rank->asleep.next)
		return 0;
	return (uint64_t)(mal_ticks_to_s(rank->asleep.next - now) * 1e9);
}

void mal_asleep_begin(struct mal_rank *rank)
{
	mal_self.offers = true;
	atomic_fetch_add(&rank->asleep_own.waits, MAL_ASLEEP_BEGIN);
}

void mal_asleep_end(struct mal_rank *rank)
{
	struct mal_fpstate saved;

	mal_self.offers = false;
	atomic_fetch_add(&rank->asleep_own.waits, MAL_ASLEEP_END);
	if (!rank->active || !atomic_load(&rank->lends_asleep))
		return;
	saved = mal_fpstate_save();
	mal_lend_wake(rank);
	mal_fpstate_restore(&saved);
}

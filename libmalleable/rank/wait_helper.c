/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait_helper.c: lend in a wait between whose polls the MPI library calls nothing of ours.
 *
 * Invariant: when a call returns the helper is not at work, and all CPUs are back
 * (t/unit/test_wait_helper.c: at_any_moment; t/t2023-polls.t).
 *
 * The helper sleeps while there are no calls. One word says whether it acts or the call returns:
 * both change it by compare-and-swap.
 */
#include "libmalleable/rank/wait_helper.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/fpstate.h"
#include "libmalleable/base/futex.h"
#include "libmalleable/rank/asleep.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/lend.h"
#include "libmalleable/rank/state/rank.h"

/*
 * How long the helper sleeps between two looks at most. Where it could lend to nobody: for this
 * part of the time since a wait was long, up to REST_NS, so that it hardly misses one where some
 * are.
 */
#define LOOK_MAX_NS 1000000u
#define CALM_PART 256
/* Behind the last call it looks for others after this time, and then as rarely as this. */
#define REST_NS 8000000u
#define SLEEP_NS 1000000000u
/* So many calls after a long wait wake the helper: any of them may be long too. */
#define EAGER 64
/*
 * And so does a call so many times mal_rank.lend.after behind the last one: that costs it little,
 * and the helper may have slept through REST_NS.
 */
#define FAR 32

/* Of `wait`, and `rest`. */
enum { WAITS = MAL_WAIT_WAITS, BUSY = MAL_WAIT_BUSY, STATES = MAL_WAIT_STATES };
enum { AWAKE, SLEEPS };

static void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* Call NOW goes on. Returns whether it did at the last look. */
static bool has_seen(struct mal_rank *rank, uint32_t now)
{
	if (rank->helper.seen == now)
		return true;
	rank->helper_own.seen = now;
	rank->helper_own.since = mal_ticks();
	return false;
}

/* Look at the wait of call NOW. Returns whether that has lasted long enough to lend. */
static bool look(struct mal_rank *rank, uint32_t now)
{
	bool is_long;

	if (now % STATES != WAITS ||
	    (!has_seen(rank, now) && !atomic_load(&rank->slot->waiting_since)) ||
	    !atomic_compare_exchange_strong(&rank->helper_own.wait, &now, now - WAITS + BUSY))
		return false;
	is_long = mal_wait_poll_for(rank, rank->helper.since);
	atomic_store(&rank->helper_own.wait, now);
	return is_long;
}

/* How long to sleep at most: each look costs the program some microseconds. */
static uint64_t pause_max(const struct mal_rank *rank)
{
	uint64_t calm =
		(uint64_t)(mal_ticks_to_s(mal_ticks() - rank->helper.long_one) * 1e9) / CALM_PART;

	if (calm < LOOK_MAX_NS || mal_lend_concerns_others(rank) ||
	    mal_asleep_pause(rank) != UINT64_MAX)
		return LOOK_MAX_NS;
	return calm < REST_NS ? calm : REST_NS;
}

/*
 * Until the primary thread has made no call between two looks, and no other one's wait is to be
 * looked at soon. Returns what the last one found.
 */
static uint32_t watch(struct mal_rank *rank)
{
	uint32_t before, now = atomic_load(&rank->helper.wait);
	const uint64_t first = (uint64_t)(mal_ticks_to_s(rank->lend.after) * 1e9);
	uint64_t pause = first, max;

	has_seen(rank, now);
	do {
		before = now;
		sleep_ns(pause);
		now = atomic_load(&rank->helper.wait);
		pause *= 2;
		if (look(rank, now)) {
			pause = first;
			rank->helper_own.long_one = mal_ticks();
		}
		mal_asleep_look(rank);
		max = now == before ? LOOK_MAX_NS : pause_max(rank);
		if (pause > max)
			pause = max;
	} while (now != before || now % STATES == WAITS || mal_asleep_pause(rank) < LOOK_MAX_NS);
	return now;
}

/* Until it makes calls again, after LAST, or another thread's wait is to be looked at. */
static void rest(struct mal_rank *rank, uint32_t last)
{
	uint64_t pause = REST_NS, asleep;

	atomic_store(&rank->helper_own.rest, SLEEPS);
	for (; atomic_load(&rank->helper.wait) == last && (asleep = mal_asleep_pause(rank));
	     pause = SLEEP_NS)
		mal_futex_wait(&rank->helper_own.rest, SLEEPS, asleep < pause ? asleep : pause);
	atomic_store(&rank->helper_own.rest, AWAKE);
}

static void *help(void *nothing)
{
	/* Waits in which nothing may be lent are not handed over. */
	mal_self.collective = true;
	prctl(PR_SET_TIMERSLACK, 1);
	mal_bind_new_thread(&mal);
	mal.helper_own.long_one = mal_ticks();
	for (;;)
		rest(&mal, watch(&mal));
	return nothing;
}

/* The wait was long. A thread that the system refuses is not tried again. */
static void start(struct mal_rank *rank)
{
	struct mal_fpstate saved = mal_fpstate_save();

	if (!atomic_exchange(&rank->helper_own.tried, true)) {
		mal_wait_open(rank);
		rank->helper_own.started = mal_threads_start_own(help);
	}
	mal_fpstate_restore(&saved);
}

/* Whether the call began long after the last one. */
static bool is_far(const struct mal_rank *rank)
{
	return rank->primary.last_leave - rank->primary.left_mpi > FAR * rank->lend.after;
}

/* After what it is to see was written: the helper sees that, or we see it rest. */
static void wake(struct mal_rank *rank)
{
	if (atomic_load(&rank->helper.rest) == AWAKE)
		return;
	atomic_store(&rank->helper_own.rest, AWAKE);
	mal_futex_wake(&rank->helper_own.rest, 1);
}

static void hand_over(struct mal_rank *rank)
{
	mal_wait_helper_number(rank);
	if (rank->helper.eager || is_far(rank))
		wake(rank);
}

/* Unless it was tried, or the rank may not lend. */
static void start_to_lend(struct mal_rank *rank)
{
	if (!rank->helper.tried && mal_rule_or_none(rank, MAL_RULE_LEND))
		start(rank);
}

void mal_wait_helper_wake(struct mal_rank *rank)
{
	start_to_lend(rank);
	if (rank->helper.started)
		wake(rank);
}

void mal_wait_helper_expect(struct mal_rank *rank)
{
	start_to_lend(rank);
	if (!rank->helper.eager)
		rank->helper_own.eager = 1;
}

void mal_wait_helper_begin(struct mal_rank *rank)
{
	/* So a poll that is seen is not one of a wait: it withdraws first. */
	mal_self.waiting = false;
	mal_self.calling = MAL_CALLS_POLLS_HIDDEN;
	if (rank->helper.started && (mal_self.collective || !mal_rule(rank, MAL_RULE_COLLECTIVES)))
		hand_over(rank);
}

void mal_wait_helper_withdraw(struct mal_rank *rank)
{
	uint32_t now;

	if (mal_self.calling != MAL_CALLS_POLLS_HIDDEN)
		return;
	mal_self.calling = MAL_CALLS;
	/* A forked child has no helper. */
	while (rank->active && atomic_load(&rank->helper.wait) != rank->helper.calls) {
		now = rank->helper.calls + WAITS;
		if (!atomic_compare_exchange_strong(&rank->helper_own.wait, &now,
						    rank->helper.calls))
			syscall(SYS_sched_yield);
	}
	mal_self.waiting = atomic_load_explicit(&rank->slot->waiting_since, memory_order_relaxed);
}

void mal_wait_helper_end(struct mal_rank *rank)
{
	uint64_t begin = rank->primary.last_leave;
	bool waited;

	mal_wait_helper_withdraw(rank);
	mal_self.calling = MAL_CALLS_NOT;
	waited = mal_self.waiting;
	mal_call_end();
	if (waited && rank->primary.left_mpi - begin > rank->lend.after) {
		rank->helper_own.eager = EAGER;
		if (rank->cpus.owned_count > 1)
			start_to_lend(rank);
	} else if (rank->helper.eager) {
		rank->helper_own.eager--;
	}
}

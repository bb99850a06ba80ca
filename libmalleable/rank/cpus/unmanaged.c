/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unmanaged.c: unmanaged ranks, whose threads no OMPT runtime reports.
 *
 * Invariant: what the primary thread polls is no work (t/unit/test_threads.c:
 * loose_rank_works_by_cpu_time).
 */
#include "libmalleable/rank/cpus/unmanaged.h"

#include "libmalleable/core/request.h"
#include "libmalleable/rank/cpus/lock.h"
#include "libmalleable/rank/cpus/sibling_threads.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/state/rank.h"

#define LOOK_EVERY_S 1e-3

/* CPUs that the threads can use: one each, or what the program declares. */
static unsigned int usable_cpus(const struct mal_rank *rank)
{
	return mal_limited(rank,
			   rank->work.wish > rank->work.peak ? rank->work.wish : rank->work.peak);
}

static void count_usable(struct mal_rank *rank)
{
	rank->work_own.usable = rank->bounds.disabled ? 0 : usable_cpus(rank);
}

void mal_unmanaged_open(struct mal_rank *rank)
{
	rank->unmanaged = !rank->ompt.on;
	rank->work_own.peak = 1;
	count_usable(rank);
	rank->work_own.last_cpu = mal_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	rank->work_own.last_serial =
		atomic_load_explicit(&rank->slot->count.serial, memory_order_relaxed);
}

static void publish(struct mal_rank *rank)
{
	count_usable(rank);
	atomic_store_explicit(&rank->slot->unmanaged, rank->work.wish ? MAL_DECLARES : 1,
			      memory_order_relaxed);
	atomic_store_explicit(&rank->slot->team, usable_cpus(rank), memory_order_relaxed);
}

/*
 * Add what the threads worked since the last sample. Had they worked on all of the rank's CPUs at
 * once, it would have taken so long; for the rest they waited, for each other, children or files:
 * no further CPU shortens that.
 */
static void look_at_work(struct mal_rank *rank, const struct mal_snapshot *snapshot)
{
	unsigned int cpus = rank->cpus.owned_count;
	uint64_t serial = snapshot->serial - rank->work.last_serial, least;
	uint64_t polled = rank->work.waited + (uint64_t)(mal_ticks_to_s(rank->work.polled) * 1e9);
	uint64_t cpu = mal_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - polled;
	uint64_t worked = cpu > rank->work.last_cpu
				  ? mal_s_to_ticks((double)(cpu - rank->work.last_cpu) * 1e-9)
				  : 0;

	rank->work_own.peak = mal_threads_peak();
	/* A single thread is as fast on one CPU as on many. */
	if (rank->work.peak > 1) {
		if (!cpus || cpus > rank->work.peak)
			cpus = rank->work.peak;
		least = worked / cpus;
		rank->work_own.busy += worked;
		rank->work_own.not_serial += least < serial ? least : serial;
	}
	rank->work_own.last_cpu = cpu;
	rank->work_own.last_serial = snapshot->serial;
	publish(rank);
}

void mal_unmanaged_sample(struct mal_rank *rank, struct mal_snapshot *snapshot)
{
	if (rank->unmanaged) {
		look_at_work(rank, snapshot);
		snapshot->max = usable_cpus(rank);
	}
	snapshot->busy += rank->work.busy;
	snapshot->serial -= rank->work.not_serial;
}

static uint64_t cpu_ns(const struct mal_rank *rank)
{
	return mal_clock_ns(mal_thread_clock(rank->primary.tid));
}

void mal_unmanaged_wait(struct mal_rank *rank, uint64_t ticks)
{
	if (rank->work.wait_begin)
		return;
	/* Longer only if another thread had the CPU: that is no poll. */
	rank->work_own.polled += ticks < 2 * rank->lend.after ? ticks : 2 * rank->lend.after;
	rank->work_own.wait_begin = cpu_ns(rank);
}

void mal_unmanaged_wait_end(struct mal_rank *rank, uint64_t ticks)
{
	if (rank->work.wait_begin)
		rank->work_own.waited += cpu_ns(rank) - rank->work.wait_begin;
	else
		rank->work_own.polled += ticks;
	rank->work_own.wait_begin = 0;
}

void mal_unmanaged_call_begin(const struct mal_rank *rank)
{
	if (rank->work.asks && !rank->work.stays)
		mal_request_close(&rank->segment, rank->me);
}

/*
 * Whether what the program declares is to be known to others: also while none of them lends, as it
 * may be declared once, before a policy begins to lend.
 */
static bool may_declare(const struct mal_rank *rank)
{
	return !(rank->bounds.rules_dropped & MAL_RULE_LEND);
}

/* Not inlined: calls that ask for nothing save no register. */
__attribute__((noinline)) static void ask_for_cpus(struct mal_rank *rank, bool asks)
{
	/* What the program declares is not for the policy to doubt. */
	bool declares = rank->work.wish > rank->cpus.owned_count, locked;

	if (asks && !(declares ? may_declare(rank) : mal_rule(rank, MAL_RULE_GROW)))
		return;
	locked = mal_cpus_lock(rank);
	rank->work_own.asks = asks;
	mal_borrower_set(&rank->segment, rank->me, asks);
	if (asks)
		mal_request_open(&rank->segment, rank->me, mal_ticks(), 0, rank->cpus.owned_count,
				 true);
	else
		mal_request_close(&rank->segment, rank->me);
	mal_cpus_unlock(rank, locked);
}

void mal_unmanaged_call_end(struct mal_rank *rank)
{
	if (mal_unmanaged_may_ask(rank))
		ask_for_cpus(rank, rank->work.usable > rank->cpus.owned_count);
}

void mal_unmanaged_bound(struct mal_rank *rank)
{
	count_usable(rank);
	mal_unmanaged_call_end(rank);
}

void mal_unmanaged_wish(struct mal_rank *rank, unsigned int max)
{
	if (!rank->unmanaged)
		mal_unmanaged_open(rank);
	rank->work_own.stays = !mal_self.primary && max > 1;
	rank->work_own.wish = max < MAL_MAX_CPUS ? max : MAL_MAX_CPUS;
	max = mal_limited(rank, max);
	publish(rank);
	if (rank->work.asks || max > rank->cpus.owned_count)
		ask_for_cpus(rank, max > rank->cpus.owned_count);
}

bool mal_unmanaged_is_idle(struct mal_rank *rank)
{
	uint64_t now = mal_ticks();

	if (now - rank->work.looked > mal_s_to_ticks(LOOK_EVERY_S)) {
		rank->work_own.idle = mal_others_sleep(rank);
		rank->work_own.looked = now;
	}
	return rank->work.idle;
}

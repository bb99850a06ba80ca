/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lend.c: lending while the primary thread waits in MPI. */
#include "libmalleable/rank/lend.h"

#include <sched.h>
#include <time.h>

#include "libmalleable/base/futex.h"
#include "libmalleable/base/kept.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/cpus/others.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/cpus/unmanaged.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/state/state.h"
#include "libmalleable/rank/team.h"

/* A wait shorter than this lends nothing: most waits of a balanced program are shorter. */
#define LEND_AFTER_S 150e-6
/*
 * Lending pays where a wait lasts this many times the cost of taking back; shorter waits lend
 * nothing.
 */
#define LEND_WORTH 8
/* How often a waiting rank looks for ranks that want CPUs. */
#define LOOK_EVERY_S 20e-6
/*
 * Longest sleep of the waiting thread while a borrower uses its CPU: bounds the delay of a message.
 */
#define LEND_NAP_NS 1000000u
/*
 * Sleep that long while the rank's own threads work or are about to sleep: TBB's yield a hundred
 * times before they sleep, and each yield takes 4 ms against a thread that polls on their CPU.
 */
#define MAKE_ROOM_NS 50000

__attribute__((noinline)) static void release_unseen(void)
{
	struct mal_kept kept = mal_keep();

	mal_cpus_release();
	mal_give_back(&kept);
}

void mal_call_begin(void)
{
	if (mal.unmanaged)
		mal_unmanaged_call_begin();
	if (mal.borrowed_count ||
	    atomic_load_explicit(&mal.slot->changes, memory_order_relaxed) != mal.seen_changes)
		release_unseen();
	if (mal_phase_has_plan() && mal_team_is_free())
		mal_phase_follow_plan();
}

__attribute__((noinline)) static void set_up_waits(void)
{
	mal.lend.look_every = mal_s_to_ticks(LOOK_EVERY_S);
	mal.lend.after = mal_s_to_ticks(LEND_AFTER_S);
}

__attribute__((noinline)) static void set_up_waits_unseen(void)
{
	struct mal_kept kept = mal_keep();

	set_up_waits();
	mal_give_back(&kept);
}

void mal_wait_begin(void)
{
	uint64_t now = mal_ticks();

	if (!mal.lend.look_every)
		set_up_waits_unseen();
	mal_count(&mal.slot->count.serial, now - mal.last_leave);
	mal.last_leave = now;
	if (mal.unmanaged)
		mal_unmanaged_wait_begin();
	mal.lend.next_look = now + mal.lend.after;
	if (mal.lend.usual_wait < LEND_WORTH * mal.lend.usual_cost) {
		mal.lend.next_look = now + LEND_WORTH * mal.lend.usual_cost;
		/* Try again some time: costs change, and one may have been an outlier. */
		mal.lend.usual_cost -= mal.lend.usual_cost / 16;
	}
	atomic_store_explicit(&mal.slot->waiting_since, now, memory_order_release);
	mal_self.waiting = true;
}

/* Leave a rank alone whose region has just begun: we are probably about to leave MPI ourselves. */
static bool is_settled(unsigned int rank, uint64_t now)
{
	uint64_t since = atomic_load_explicit(&mal.segment.ranks[rank].wants_cpus_since,
					      memory_order_relaxed);

	return now > since && now - since > mal.lend.after;
}

/*
 * Of the ranks in regions with more threads than CPUs, the one expected to compute longest;
 * MAL_NOBODY: none. (The first to come would often get CPUs only to wait for another rank after
 * that.)
 */
static unsigned int find_borrower(uint64_t now)
{
	unsigned int words = (mal.segment.rank_count + 63) / 64;
	unsigned int found = MAL_NOBODY;
	uint64_t latest = 0;

	for (unsigned int i = 0; i < words; i++) {
		uint64_t bits = atomic_load_explicit(&mal.segment.header->wants_cpus[i],
						     memory_order_acquire);

		for (; bits; bits &= bits - 1) {
			unsigned int rank = i * 64 + (unsigned int)__builtin_ctzll(bits);
			uint64_t until;

			if (rank >= mal.segment.rank_count || rank == mal.me ||
			    !is_settled(rank, now))
				continue;
			until = atomic_load_explicit(&mal.segment.ranks[rank].wants_cpus_until,
						     memory_order_relaxed);
			if (found != MAL_NOBODY && until <= latest)
				continue;
			found = rank;
			latest = until;
		}
	}
	return found;
}

/* RANK has one CPU more: expect its region to end earlier accordingly. */
static void expect_earlier(unsigned int rank, uint64_t now)
{
	struct mal_rank_slot *slot = &mal.segment.ranks[rank];
	uint64_t until = atomic_load_explicit(&slot->wants_cpus_until, memory_order_relaxed);
	uint32_t cpus = atomic_fetch_add_explicit(&slot->wants_cpus_count, 1, memory_order_relaxed);

	if (until > now && cpus < MAL_MAX_CPUS)
		atomic_store_explicit(&slot->wants_cpus_until,
				      now + (until - now) * cpus / (cpus + 1),
				      memory_order_relaxed);
}

/*
 * Take back the CPU granted to RANK, and send away the threads that it already has there. It may
 * have returned the CPU before its thread was sent, and another rank have borrowed it.
 */
static void roll_back(struct mal_cpu_slot *slot, unsigned int cpu, unsigned int rank)
{
	unsigned int borrower = mal_word_reclaim(&slot->word, mal.me);

	mal_bind_evict(rank, cpu);
	if (borrower != rank && borrower < mal.segment.rank_count)
		mal_bind_evict(borrower, cpu);
}

/*
 * Give CPU to a rank that wants CPUs, and send one of its threads there. The rank's region may end
 * meanwhile: either the rank sees the change of its CPUs after closing its request, or we see the
 * request closed. Otherwise nobody would return the CPU.
 */
static bool grant(struct mal_cpu_slot *slot, unsigned int cpu, uint64_t now)
{
	unsigned int borrower = find_borrower(now);
	enum mal_spread spread;

	if (borrower == MAL_NOBODY)
		return false;
	spread = mal_bind_can_spread(borrower);
	if (spread == MAL_SPREAD_DONE && mal_word_grant(&slot->word, mal.me, borrower)) {
		mal_free_check(&mal.segment, cpu);
		spread = mal_bind_spread(borrower, cpu);
		atomic_fetch_add_explicit(&mal.segment.ranks[borrower].changes, 1,
					  memory_order_seq_cst);
		if (spread == MAL_SPREAD_DONE && mal_wants_cpus_is_open(&mal.segment, borrower)) {
			mal_count(&mal.slot->count.grants, 1);
			expect_earlier(borrower, now);
			return true;
		}
		roll_back(slot, cpu, borrower);
	}
	if (spread == MAL_SPREAD_SATISFIED)
		mal_wants_cpus_say(&mal.segment, borrower, false);
	return false;
}

static void lend_or_grant(unsigned int cpu, uint64_t now)
{
	struct mal_cpu_slot *slot = &mal.segment.cpus[cpu];
	struct mal_cpu_state state = mal_word_read(&slot->word);

	if (state.owner != mal.me || (state.user != mal.me && state.user != MAL_NOBODY))
		return;
	if (grant(slot, cpu, now)) {
		if (!state.lent)
			mal_count(&mal.slot->count.lends, 1);
		return;
	}
	if (mal_word_lend(&slot->word, mal.me)) {
		mal_count(&mal.slot->count.lends, state.lent ? 0 : 1);
		mal_free_check(&mal.segment, cpu);
	}
}

/* Sleep if a borrower computes on the CPU that this thread runs on. */
static void nap(void)
{
	int cpu = sched_getcpu();
	struct mal_cpu_slot *slot;
	unsigned int user;
	uint32_t wake;

	if (cpu < 0 || (uint32_t)cpu >= mal.segment.cpu_count)
		return;
	slot = &mal.segment.cpus[cpu];
	atomic_fetch_add_explicit(&slot->sleepers, 1, memory_order_seq_cst);
	wake = atomic_load_explicit(&slot->wake, memory_order_acquire);
	user = mal_word_read(&slot->word).user;
	if (user != mal.me && user != MAL_NOBODY)
		mal_futex_wait(&slot->wake, wake, LEND_NAP_NS);
	atomic_fetch_sub_explicit(&slot->sleepers, 1, memory_order_relaxed);
}

static void take_back(void)
{
	struct mal_kept kept = mal_keep();
	uint64_t begin = mal_ticks(), cost;

	for (unsigned int i = 0; i < mal.own_count; i++) {
		struct mal_cpu_slot *slot = &mal.segment.cpus[mal.own[i]];
		struct mal_cpu_state state = mal_word_read(&slot->word);
		unsigned int borrower;

		if (state.owner != mal.me || !state.lent)
			continue;
		borrower = mal_word_reclaim(&slot->word, mal.me);
		mal_free_check(&mal.segment, mal.own[i]);
		mal_count(&mal.slot->count.reclaims, 1);
		if (borrower < mal.segment.rank_count && mal_bind_evict(borrower, mal.own[i])) {
			/*
			 * Its threads share CPUs now: another lender may help, unless its region
			 * has ended.
			 */
			mal_wants_cpus_check(&mal.segment, borrower);
			mal_count(&mal.slot->count.evictions, 1);
			mal_count(&mal.slot->count.overlap, mal_ticks() - begin);
		}
	}
	mal.lending = false;
	cost = mal_ticks() - begin;
	mal_count(&mal.slot->count.own, cost);
	mal_count(&mal.slot->count.back, cost);
	cost += mal.lend.look_cost;
	mal.lend.usual_cost = mal.lend.usual_cost ? (3 * mal.lend.usual_cost + cost) / 4 : cost;
	mal_give_back(&kept);
}

void mal_wait_abandon(void)
{
	if (mal.lending)
		take_back();
	atomic_store_explicit(&mal.slot->waiting_since, 0, memory_order_release);
	atomic_store_explicit(&mal.lend.abandoned, mal.lend.last_poll, memory_order_release);
}

bool mal_wait_is_abandoned(void)
{
	return atomic_load_explicit(&mal.lend.abandoned, memory_order_acquire);
}

/* Takes time that lending must be worth, as taking back does. */
static bool others_sleep(void)
{
	uint64_t begin = mal_ticks();
	bool sleep = mal_others_sleep();

	mal.lend.look_cost = mal_ticks() - begin;
	mal_count(&mal.slot->count.own, mal.lend.look_cost);
	return sleep;
}

/* The report says why nothing is lent. */
static void note_computing(void)
{
	if (!(atomic_load(&mal.slot->strays) & MAL_STRAYS_COMPUTE))
		atomic_fetch_or(&mal.slot->strays, MAL_STRAYS_COMPUTE);
}

/* Why not is written down for the report. A rank that lends looks again if it is unmanaged. */
static bool others_let_us(uint64_t now)
{
	if (mal.unmanaged)
		/* Its other threads may start to work while its primary thread waits. */
		return mal_unmanaged_is_idle();
	if (mal.lending)
		return true;
	if (!mal_threads_are_foreign()) {
		if (others_sleep())
			return true;
		/* Threads from before we came, or by clone(2): look again at twice the wait. */
		mal.lend.next_look = now + (now - mal.last_leave);
	}
	note_computing();
	return false;
}

static bool may_lend(void)
{
	return mal_rule(MAL_RULE_LEND) && mal.own_count &&
	       (!mal_rule(MAL_RULE_COLLECTIVES) || mal_self.collective);
}

/* Others want CPUs, or have some of ours. Lend all but KEPT. Returns whether the rank lends. */
static bool lend_now(uint64_t now, unsigned int kept)
{
	if (!others_let_us(now)) {
		if (mal.lending)
			take_back();
		return false;
	}
	if (!mal.lending || (may_lend() && find_borrower(now) != MAL_NOBODY)) {
		mal.lending = true;
		for (unsigned int i = mal.own_count; i-- > 0;)
			if (mal.own[i] != kept)
				lend_or_grant(mal.own[i], now);
	}
	return true;
}

/* Whether to lend, or to look at what is lent. */
static bool concerns_others(void)
{
	return mal.lending || (may_lend() && atomic_load_explicit(&mal.segment.header->borrowers,
								  memory_order_relaxed));
}

__attribute__((noinline)) static void lend_and_nap(uint64_t now)
{
	if (lend_now(now, mal_rule(MAL_RULE_KEEP_ONE) ? mal.own[0] : MAL_NO_CPU))
		nap();
	else if (mal.unmanaged)
		nanosleep(&(struct timespec){0, MAKE_ROOM_NS}, NULL);
}

void mal_wait_poll(void)
{
	uint64_t now = mal_ticks();
	struct mal_kept kept;

	mal.lend.last_poll = now;
	if (now < mal.lend.next_look)
		return;
	mal.lend.next_look = now + mal.lend.look_every;
	if (!concerns_others())
		return;
	kept = mal_keep();
	lend_and_nap(now);
	mal_give_back(&kept);
}

/* The CPU of ours on which the primary thread polls. */
static unsigned int cpu_of_waiter(void)
{
	const struct mal_thread_slot *slot = &mal.threads[0];
	unsigned int cpu = atomic_load_explicit(&slot->bound, memory_order_relaxed);

	if (atomic_load_explicit(&slot->tid, memory_order_relaxed) != mal.primary_tid ||
	    cpu >= mal.segment.cpu_count)
		cpu = mal_thread_cpu(mal.primary_tid);
	for (unsigned int i = 0; i < mal.own_count; i++)
		if (mal.own[i] == cpu)
			return cpu;
	return mal.own[0];
}

bool mal_wait_look(void)
{
	uint64_t now = mal_ticks();

	if (!mal.active || now < mal.lend.next_look)
		return false;
	if (!concerns_others())
		return true;
	if (!mal.lending)
		mal.lend.kept = cpu_of_waiter();
	lend_now(now, mal.lend.kept);
	return true;
}

static void wait_end(void)
{
	uint64_t now;

	mal_self.waiting = false;
	if (mal.lending)
		take_back();
	if (mal.unmanaged)
		mal_unmanaged_wait_end();
	atomic_store_explicit(&mal.slot->waiting_since, 0, memory_order_release);
	now = atomic_exchange_explicit(&mal.lend.abandoned, 0, memory_order_acquire);
	if (!now)
		now = mal_ticks();
	if (now - mal.last_leave > mal.lend.after)
		mal.lend.usual_wait = mal.lend.usual_wait
					      ? (3 * mal.lend.usual_wait + now - mal.last_leave) / 4
					      : now - mal.last_leave;
	mal_count(&mal.slot->count.mpi, now - mal.last_leave);
	mal.last_leave = now;
}

void mal_call_end(void)
{
	if (mal_self.waiting)
		wait_end();
	else
		mal_self.tests_left--;
	mal.left_mpi = mal_ticks();
	if (mal.unmanaged)
		mal_unmanaged_call_end();
}

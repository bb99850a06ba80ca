/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lend.c: lending while the primary thread waits in MPI. */
#include "libmalleable/rank/lend.h"

#include <sched.h>
#include <time.h>

#include "libmalleable/core/futex.h"
#include "libmalleable/rank/bind.h"
#include "libmalleable/rank/cpus.h"
#include "libmalleable/rank/loose.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/state.h"
#include "libmalleable/rank/team.h"
#include "libmalleable/rank/threads.h"

/* A wait shorter than this lends nothing: most waits of a balanced program are. */
#define LEND_AFTER_S 150e-6
/* Lending is worth its cost where a wait lasts so many times as long; shorter waits are let pass. */
#define LEND_WORTH 8
/* How often a waiting rank looks whether somebody wants its CPUs. */
#define LOOK_EVERY_S 20e-6
/* How long the waiting thread sleeps at most while a borrower uses its CPU: bounds the delay of a message. */
#define LEND_NAP_NS 1000000u
/*
 * And where its rank's own threads work or are about to sleep: TBB's yield a hundred times before, and against a polling
 * thread on their CPU each of these takes 4 ms.
 */
#define MAKE_ROOM_NS 50000

static uint64_t next_look;
static uint64_t look_every;
static uint64_t lend_after;
/* Moving averages: of waits that were long enough to lend, and of what taking back took after one. */
static uint64_t usual_wait;
static uint64_t usual_cost;

void mal_call_begin(void)
{
	if (mal.loose)
		mal_loose_call_begin();
	if (mal.borrowed_count || atomic_load_explicit(&mal.slot->changes, memory_order_relaxed) != mal.seen_changes)
		mal_cpus_release();
	if (mal_team_is_free())
		mal_phase_follow_plan();
}

void mal_wait_begin(void)
{
	uint64_t now = mal_ticks();

	if (!look_every) {
		look_every = mal_s_to_ticks(LOOK_EVERY_S);
		lend_after = mal_s_to_ticks(LEND_AFTER_S);
	}
	mal_count(&mal.slot->count.serial, now - mal.last_leave);
	mal.last_leave = now;
	if (mal.loose)
		mal_loose_wait_begin();
	next_look = now + lend_after;
	if (usual_wait < LEND_WORTH * usual_cost) {
		next_look = now + LEND_WORTH * usual_cost;
		/* It is tried again some time: costs change, and one of them may have been an accident. */
		usual_cost -= usual_cost / 16;
	}
	atomic_store_explicit(&mal.slot->waiting_since, now, memory_order_release);
	mal_self.waiting = true;
}

/* A rank whose region has just begun found us about to leave MPI, most likely: let it be. */
static bool is_settled(unsigned int rank, uint64_t now)
{
	uint64_t since = atomic_load_explicit(&mal.segment.ranks[rank].hungry_since, memory_order_relaxed);

	return now > since && now - since > lend_after;
}

/*
 * Of the ranks that are in regions with more threads than CPUs the one that is expected to compute for longest, or
 * MAL_NOBODY. (Whoever comes first would often get CPUs only to wait for another one after that.)
 */
static unsigned int find_hungry(uint64_t now)
{
	unsigned int words = (mal.segment.rank_count + 63) / 64;
	unsigned int found = MAL_NOBODY;
	uint64_t latest = 0;

	for (unsigned int i = 0; i < words; i++) {
		uint64_t bits = atomic_load_explicit(&mal.segment.header->hungry[i], memory_order_acquire);

		for (; bits; bits &= bits - 1) {
			unsigned int rank = i * 64 + (unsigned int)__builtin_ctzll(bits);
			uint64_t until;

			if (rank >= mal.segment.rank_count || rank == mal.me || !is_settled(rank, now))
				continue;
			until = atomic_load_explicit(&mal.segment.ranks[rank].hungry_until, memory_order_relaxed);
			if (found != MAL_NOBODY && until <= latest)
				continue;
			found = rank;
			latest = until;
		}
	}
	return found;
}

/* RANK has one CPU more: its region will end so much earlier. */
static void expect_earlier(unsigned int rank, uint64_t now)
{
	struct mal_rank_slot *slot = &mal.segment.ranks[rank];
	uint64_t until = atomic_load_explicit(&slot->hungry_until, memory_order_relaxed);
	uint32_t cpus = atomic_fetch_add_explicit(&slot->hungry_cpus, 1, memory_order_relaxed);

	if (until > now && cpus < MAL_MAX_CPUS)
		atomic_store_explicit(&slot->hungry_until, now + (until - now) * cpus / (cpus + 1),
				      memory_order_relaxed);
}

/* Give CPU to a hungry rank, and send one of its threads there. */
static bool grant(struct mal_cpu_slot *slot, unsigned int cpu, uint64_t now)
{
	unsigned int hungry = find_hungry(now);
	enum mal_spread spread;
	bool was_free;

	if (hungry == MAL_NOBODY)
		return false;
	was_free = mal_word_read(&slot->word).lent;
	if (!mal_word_grant(&slot->word, mal.me, hungry))
		return false;
	if (was_free)
		atomic_fetch_sub_explicit(&mal.segment.header->free_cpus, 1, memory_order_relaxed);
	spread = mal_bind_spread(hungry, cpu);
	if (spread == MAL_SPREAD_DONE) {
		atomic_fetch_add_explicit(&mal.segment.ranks[hungry].changes, 1, memory_order_release);
		mal_count(&mal.slot->count.grants, 1);
		expect_earlier(hungry, now);
		return true;
	}
	if (spread == MAL_SPREAD_SATISFIED)
		mal_hungry_say(&mal.segment, hungry, false);
	mal_word_reclaim(&slot->word, mal.me);
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
		atomic_fetch_add_explicit(&mal.segment.header->free_cpus, 1, memory_order_relaxed);
	}
}

/* Sleep if somebody computes on the CPU that this thread runs on. */
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
	uint64_t begin = mal_ticks(), cost;

	for (unsigned int i = 0; i < mal.own_count; i++) {
		struct mal_cpu_slot *slot = &mal.segment.cpus[mal.own[i]];
		struct mal_cpu_state state = mal_word_read(&slot->word);
		unsigned int borrower;

		if (state.owner != mal.me || !state.lent)
			continue;
		borrower = mal_word_reclaim(&slot->word, mal.me);
		if (borrower == MAL_NOBODY)
			atomic_fetch_sub_explicit(&mal.segment.header->free_cpus, 1, memory_order_relaxed);
		mal_count(&mal.slot->count.reclaims, 1);
		if (borrower < mal.segment.rank_count && mal_bind_evict(borrower, mal.own[i])) {
			/* They share CPUs now: the next lender may help them. */
			mal_hungry_say(&mal.segment, borrower, true);
			mal_count(&mal.slot->count.evictions, 1);
			mal_count(&mal.slot->count.overlap, mal_ticks() - begin);
		}
	}
	mal.lending = false;
	cost = mal_ticks() - begin;
	usual_cost = usual_cost ? (3 * usual_cost + cost) / 4 : cost;
	mal_count(&mal.slot->count.own, cost);
	mal_count(&mal.slot->count.back, cost);
}

void mal_wait_poll(void)
{
	uint64_t now = mal_ticks();

	if (now < next_look)
		return;
	next_look = now + look_every;
	if (!mal_rule(MAL_RULE_LEND) || !mal.own_count || (mal_rule(MAL_RULE_COLLECTIVES) && !mal_self.collective))
		return;
	if (!mal.lending && !atomic_load_explicit(&mal.segment.header->borrowers, memory_order_relaxed))
		return;
	if (mal.loose) {
		/* Its other threads may begin to work while the primary one waits. */
		if (!mal_loose_is_idle()) {
			if (mal.lending)
				take_back();
			nanosleep(&(struct timespec){0, MAKE_ROOM_NS}, NULL);
			return;
		}
	} else if (!mal.lending && mal_threads_are_foreign()) {
		return;
	}
	if (!mal.lending || find_hungry(now) != MAL_NOBODY) {
		mal.lending = true;
		for (unsigned int i = mal.own_count; i-- > (mal_rule(MAL_RULE_KEEP_ONE) ? 1 : 0);)
			lend_or_grant(mal.own[i], now);
	}
	nap();
}

static void wait_end(void)
{
	uint64_t now;

	mal_self.waiting = false;
	if (mal.lending)
		take_back();
	if (mal.loose)
		mal_loose_wait_end();
	atomic_store_explicit(&mal.slot->waiting_since, 0, memory_order_release);
	now = mal_ticks();
	if (now - mal.last_leave > lend_after)
		usual_wait = usual_wait ? (3 * usual_wait + now - mal.last_leave) / 4 : now - mal.last_leave;
	mal_count(&mal.slot->count.mpi, now - mal.last_leave);
	mal.last_leave = now;
}

void mal_call_end(void)
{
	if (mal_self.waiting)
		wait_end();
	mal.left_mpi = mal_ticks();
	if (mal.loose)
		mal_loose_call_end();
}

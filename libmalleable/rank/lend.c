/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lend.c: lending while the primary thread waits in MPI.
 *
 * Invariant: all CPUs that a wait lent are back when it ends (t/unit/test_protocol.c:
 * lent_cpus_survive_another_order; t/t3001-balance.t).
 */
#include "libmalleable/rank/lend.h"

#include <sched.h>
#include <time.h>

#include "libmalleable/base/fpstate.h"
#include "libmalleable/base/futex.h"
#include "libmalleable/core/changes.h"
#include "libmalleable/core/request.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/borrower_use.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/cpus/lock.h"
#include "libmalleable/rank/cpus/sibling_threads.h"
#include "libmalleable/rank/cpus/unmanaged.h"
#include "libmalleable/rank/outside.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/state/primary_thread.h"
#include "libmalleable/rank/team.h"

/* A wait shorter than this lends nothing: most waits of a balanced program are shorter. */
#define LEND_AFTER_S 150e-6
/*
 * Lending pays where a wait lasts this many times the cost of taking back; shorter waits lend
 * nothing.
 */
#define LEND_WORTH 8
/*
 * While CPUs are lent, threads that neither OpenMP nor MPI made are looked at so often: one may
 * begin to compute.
 */
#define WATCH_EVERY_S 1e-3
/* How often a waiting rank looks for ranks that ask for CPUs. */
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

static void release_saving_fp(struct mal_rank *rank)
{
	struct mal_fpstate saved = mal_fpstate_save();

	if (rank->work.stays)
		mal_cpus_refresh(rank);
	else
		mal_cpus_release(rank);
	mal_fpstate_restore(&saved);
}

static inline bool has_changes(const struct mal_rank *rank)
{
	return rank->cpus.borrowed_count ||
	       atomic_load_explicit(&rank->slot->changes, memory_order_relaxed) !=
		       rank->cpus.seen_changes;
}

/* This and end_unusual() are not inlined: the usual call saves no register. */
__attribute__((noinline)) static void begin_unusual(struct mal_rank *rank)
{
	if (rank->unmanaged)
		mal_unmanaged_call_begin(rank);
	if (has_changes(rank))
		release_saving_fp(rank);
	if (mal_phase_has_plan(rank) && mal_team_is_free(rank))
		mal_phase_follow_plan(rank);
}

void mal_call_begin(void)
{
	if (mal.work.asks || has_changes(&mal) || mal_phase_has_plan(&mal))
		begin_unusual(&mal);
}

__attribute__((noinline)) void mal_wait_open(struct mal_rank *rank)
{
	rank->lend_own.look_every = mal_s_to_ticks(LOOK_EVERY_S);
	rank->lend_own.after = mal_s_to_ticks(LEND_AFTER_S);
	rank->lend_own.watch_every = mal_s_to_ticks(WATCH_EVERY_S);
}

__attribute__((noinline)) static void set_up_waits_saving_fp(struct mal_rank *rank)
{
	struct mal_fpstate saved = mal_fpstate_save();

	mal_wait_open(rank);
	mal_fpstate_restore(&saved);
}

void mal_wait_begin(uint64_t ago)
{
	uint64_t begin = mal_ticks();

	if (!mal.lend.look_every)
		set_up_waits_saving_fp(&mal);
	mal.lend_own.last_poll = begin;
	begin -= ago < begin - mal.primary.last_leave ? ago : begin - mal.primary.last_leave;
	mal_count(&mal.slot->count.serial, begin - mal.primary.last_leave);
	mal_primary_left(&mal, begin);
	mal.lend_own.next_look = begin + mal.lend.after;
	if (mal.lend.usual_wait < LEND_WORTH * mal.lend.usual_cost) {
		mal.lend_own.next_look = begin + LEND_WORTH * mal.lend.usual_cost;
		/* Try again some time: costs change, and one may have been an outlier. */
		mal.lend_own.usual_cost -= mal.lend.usual_cost / 16;
	}
	atomic_store_explicit(&mal.slot->waiting_since, begin, memory_order_release);
	mal_self.waiting = true;
}

/*
 * Of the ranks in regions with more threads than CPUs, the one expected to compute longest;
 * MAL_NOBODY: none. (The first to come would often get CPUs only to wait for another rank after
 * that.)
 */
static unsigned int find_borrower(const struct mal_rank *rank, uint64_t now)
{
	unsigned int found = MAL_NOBODY;
	uint64_t latest = 0;

	for (unsigned int number = 0; number < rank->segment.rank_count; number++) {
		union mal_request request = mal_request_read(&rank->segment, number);
		uint64_t since = atomic_load_explicit(&rank->segment.requests[number].since,
						      memory_order_relaxed);

		if (!request.asks || number == rank->me ||
		    (found != MAL_NOBODY && request.until <= latest))
			continue;
		/* Its region has just begun: we are probably about to leave MPI ourselves. */
		if (now <= since || now - since <= rank->lend.after)
			continue;
		if (!mal_borrower_may(rank, number, now))
			continue;
		found = number;
		latest = request.until;
	}
	return found;
}

/*
 * Take back the CPU granted to rank NUMBER, and send away the threads that it already has there. It
 * may have returned the CPU before its thread was sent, and another rank have borrowed it.
 */
static void roll_back(const struct mal_rank *rank, struct mal_cpu_slot *slot, unsigned int cpu,
		      unsigned int number)
{
	unsigned int borrower = mal_word_reclaim(&slot->word, rank->me);

	mal_bind_evict(rank, number, cpu);
	if (borrower != number && borrower < rank->segment.rank_count)
		mal_bind_evict(rank, borrower, cpu);
}

/*
 * Give CPU to a rank that asks for some, and send one of its threads there. The rank's region may
 * end meanwhile: either the rank sees the change of its CPUs after closing its request, or we see
 * the request closed. Otherwise nobody would return the CPU.
 */
static bool grant(const struct mal_rank *rank, struct mal_cpu_slot *slot, unsigned int cpu,
		  uint64_t now)
{
	unsigned int borrower = find_borrower(rank, now);
	enum mal_spread spread;

	if (borrower == MAL_NOBODY)
		return false;
	spread = mal_bind_can_spread(rank, borrower);
	if (spread == MAL_SPREAD_DONE && mal_word_grant(&slot->word, rank->me, borrower)) {
		mal_free_check(&rank->segment, cpu);
		spread = mal_bind_spread(rank, borrower, cpu);
		mal_changes_add(&rank->segment.ranks[borrower]);
		if (spread == MAL_SPREAD_DONE && mal_request_grant(&rank->segment, borrower, now)) {
			mal_count(&rank->slot->count.grants, 1);
			return true;
		}
		roll_back(rank, slot, cpu, borrower);
	}
	if (spread == MAL_SPREAD_SATISFIED)
		mal_request_ask(&rank->segment, borrower, false);
	return false;
}

static void lend_or_grant(const struct mal_rank *rank, unsigned int cpu, uint64_t now)
{
	struct mal_cpu_slot *slot = &rank->segment.cpus[cpu];
	struct mal_cpu_state state = mal_word_read(&slot->word);

	if (state.owner != rank->me || (state.user != rank->me && state.user != MAL_NOBODY))
		return;
	if (!grant(rank, slot, cpu, now)) {
		if (!mal_word_lend(&slot->word, rank->me))
			return;
		mal_free_check(&rank->segment, cpu);
	}
	if (!state.lent)
		mal_count(&rank->slot->count.lends, 1);
}

/* Sleep if a borrower computes on the CPU that this thread runs on. */
static void nap(const struct mal_rank *rank)
{
	int cpu = sched_getcpu();
	struct mal_cpu_slot *slot;
	unsigned int user;
	uint32_t wake;

	if (cpu < 0 || (uint32_t)cpu >= rank->segment.cpu_count)
		return;
	slot = &rank->segment.cpus[cpu];
	atomic_fetch_add_explicit(&slot->sleepers, 1, memory_order_seq_cst);
	wake = atomic_load_explicit(&slot->wake, memory_order_acquire);
	user = mal_word_read(&slot->word).user;
	if (user != rank->me && user != MAL_NOBODY)
		mal_futex_wait(&slot->wake, wake, LEND_NAP_NS);
	atomic_fetch_sub_explicit(&slot->sleepers, 1, memory_order_relaxed);
}

/* Take all CPUs back that are lent, since tick BEGIN. */
static void reclaim(struct mal_rank *rank, uint64_t begin)
{
	for (unsigned int i = 0; i < rank->cpus.owned_count; i++) {
		struct mal_cpu_slot *slot = &rank->segment.cpus[rank->cpus.owned[i]];
		struct mal_cpu_state state = mal_word_read(&slot->word);
		unsigned int borrower;

		if (state.owner != rank->me || !state.lent)
			continue;
		borrower = mal_word_reclaim(&slot->word, rank->me);
		mal_free_check(&rank->segment, rank->cpus.owned[i]);
		mal_count(&rank->slot->count.reclaims, 1);
		if (borrower < rank->segment.rank_count &&
		    mal_bind_evict(rank, borrower, rank->cpus.owned[i])) {
			/*
			 * Its threads share CPUs now: another lender may help, unless its region
			 * has ended.
			 */
			mal_request_ask(&rank->segment, borrower, true);
			mal_count(&rank->slot->count.evictions, 1);
			mal_count(&rank->slot->count.overlap, mal_ticks() - begin);
		}
	}
	atomic_store(&rank->lends_asleep, false);
}

static void take_back(struct mal_rank *rank)
{
	struct mal_fpstate saved = mal_fpstate_save();
	uint64_t begin = mal_ticks(), cost;
	bool locked = mal_cpus_lock(rank);

	reclaim(rank, begin);
	rank->lend_own.lending = false;
	mal_cpus_unlock(rank, locked);
	cost = mal_ticks() - begin;
	mal_count(&rank->slot->count.overhead_ticks, cost);
	mal_count(&rank->slot->count.reclaim_ticks, cost);
	cost += rank->lend.look_cost;
	rank->lend_own.usual_cost =
		rank->lend.usual_cost ? (3 * rank->lend.usual_cost + cost) / 4 : cost;
	mal_fpstate_restore(&saved);
}

void mal_wait_abandon(struct mal_rank *rank)
{
	if (rank->lend.lending)
		take_back(rank);
	atomic_store_explicit(&rank->slot->waiting_since, 0, memory_order_release);
	atomic_store_explicit(&rank->lend_own.abandoned, rank->lend.last_poll,
			      memory_order_release);
}

bool mal_wait_is_abandoned(const struct mal_rank *rank)
{
	return atomic_load_explicit(&rank->lend.abandoned, memory_order_acquire);
}

/* Look whether all other threads sleep, at a time that lending must be worth too. */
static bool look_at_others(struct mal_rank *rank, uint64_t now)
{
	bool sleep = mal_others_sleep(rank);

	rank->lend_own.look_cost = mal_ticks() - now;
	rank->lend_own.watched = now;
	mal_count(&rank->slot->count.overhead_ticks, rank->lend.look_cost);
	return sleep;
}

/*
 * Whether no other thread computed since the last look. Where one did while CPUs were lent none is
 * lent before all have slept for as long as it takes to notice that.
 */
static bool others_slept(struct mal_rank *rank, uint64_t now)
{
	uint64_t since = now - rank->lend.watched;
	bool compute;

	if (since < rank->lend.watch_every)
		return rank->lend.lending;
	if (rank->lend.watched <= rank->primary.last_leave) {
		/* The last one was in another wait. */
		look_at_others(rank, now);
		return false;
	}
	compute = mal_others_compute(rank, (uint64_t)(mal_ticks_to_s(since) * 1e9));
	rank->lend_own.watched = now;
	rank->lend_own.rests = compute;
	return !compute;
}

/* The report says why not. */
static bool others_let_us(struct mal_rank *rank, uint64_t now)
{
	if (rank->unmanaged)
		/* Its other threads may start to work while its primary thread waits. */
		return mal_unmanaged_is_idle(rank);
	if (rank->lend.lending || rank->lend.rests) {
		if (others_slept(rank, now))
			return true;
	} else {
		if (look_at_others(rank, now))
			return true;
		/* Look again at twice the wait. */
		rank->lend_own.next_look = now + (now - rank->primary.last_leave);
	}
	if (!(atomic_load(&rank->slot->foreign_threads) & MAL_FOREIGN_COMPUTE))
		atomic_fetch_or(&rank->slot->foreign_threads, MAL_FOREIGN_COMPUTE);
	return false;
}

static bool may_lend(const struct mal_rank *rank)
{
	return mal_rule(rank, MAL_RULE_LEND) && rank->cpus.owned_count &&
	       (!mal_rule(rank, MAL_RULE_COLLECTIVES) || mal_self.collective);
}

/* No thread of ours works: what another one than the primary had borrowed goes back. */
static void lend_all_but(struct mal_rank *rank, unsigned int kept, uint64_t now)
{
	if (rank->work.stays) {
		mal_request_close(&rank->segment, rank->me);
		mal_cpus_release(rank);
	}
	for (unsigned int i = rank->cpus.owned_count; i-- > 0;)
		if (rank->cpus.owned[i] != kept)
			lend_or_grant(rank, rank->cpus.owned[i], now);
}

/*
 * Take back CPUs that who has them does not use, but asks for again from now on. Returns whether
 * there were any.
 */
static bool take_back_unused(struct mal_rank *rank, uint64_t now)
{
	bool any = false;

	for (unsigned int i = 0; i < rank->cpus.owned_count; i++) {
		unsigned int cpu = rank->cpus.owned[i];
		struct mal_cpu_state state = mal_word_read(&rank->segment.cpus[cpu].word);

		if (state.owner != rank->me || state.user == rank->me ||
		    state.user >= rank->segment.rank_count ||
		    mal_borrower_uses(rank, state.user, now))
			continue;
		roll_back(rank, &rank->segment.cpus[cpu], cpu, state.user);
		mal_request_ask(&rank->segment, state.user, true);
		mal_count(&rank->slot->count.reclaims, 1);
		any = true;
	}
	return any;
}

/*
 * Others would borrow CPUs, or have some of ours. Lend all but KEPT. Returns whether the rank may
 * lend.
 */
static bool lend_now(struct mal_rank *rank, uint64_t now, unsigned int kept)
{
	bool locked = mal_cpus_lock(rank), lends = others_let_us(rank, now), again = false;

	if (rank->lend.lending) {
		if (lends)
			again = take_back_unused(rank, now);
		else
			take_back(rank);
	}
	if (lends && (!rank->lend.lending ||
		      (may_lend(rank) && (again || find_borrower(rank, now) != MAL_NOBODY)))) {
		rank->lend_own.lending = true;
		lend_all_but(rank, kept, now);
	}
	mal_cpus_unlock(rank, locked);
	return lends;
}

bool mal_lend_concerns_others(const struct mal_rank *rank)
{
	return may_lend(rank) &&
	       atomic_load_explicit(&rank->segment.header->borrowers, memory_order_relaxed);
}

/* Whether others would borrow CPUs, or have some of ours. */
static bool concerns_others(const struct mal_rank *rank)
{
	return rank->lend.lending || mal_lend_concerns_others(rank);
}

void mal_lend_asleep(struct mal_rank *rank, uint64_t now)
{
	if (!may_lend(rank)) {
		mal_lend_wake(rank);
		return;
	}
	mal_unmanaged_call_begin(rank);
	lend_all_but(rank, mal_rule(rank, MAL_RULE_KEEP_ONE) ? rank->cpus.owned[0] : MAL_NO_CPU,
		     now);
}

void mal_lend_wake(struct mal_rank *rank)
{
	bool locked = mal_cpus_lock(rank);

	reclaim(rank, mal_ticks());
	mal_unmanaged_call_end(rank);
	mal_cpus_unlock(rank, locked);
}

__attribute__((noinline)) static void lend_and_nap(struct mal_rank *rank, uint64_t now)
{
	bool keep_one = mal_rule(rank, MAL_RULE_KEEP_ONE);

	if (lend_now(rank, now, keep_one ? rank->cpus.owned[0] : MAL_NO_CPU))
		nap(rank);
	else if (rank->unmanaged)
		nanosleep(&(struct timespec){0, MAKE_ROOM_NS}, NULL);
}

void mal_wait_poll(void)
{
	uint64_t now = mal_ticks();
	struct mal_fpstate saved;

	mal.lend_own.last_poll = now;
	if (mal.unmanaged && now - mal.primary.last_leave > mal.lend.after)
		mal_unmanaged_wait(&mal, now - mal.primary.last_leave);
	if (now < mal.lend.next_look)
		return;
	mal.lend_own.next_look = now + mal.lend.look_every;
	mal_outside_look_at_polls(&mal, now);
	if (!concerns_others(&mal))
		return;
	saved = mal_fpstate_save();
	lend_and_nap(&mal, now);
	mal_fpstate_restore(&saved);
}

/* The CPU of ours on which the primary thread polls. */
static unsigned int cpu_of_waiter(const struct mal_rank *rank)
{
	const struct mal_thread_slot *slot = &rank->threads[0];
	unsigned int cpu = atomic_load_explicit(&slot->bound_cpu, memory_order_relaxed);

	if (atomic_load_explicit(&slot->tid, memory_order_relaxed) != rank->primary.tid ||
	    cpu >= rank->segment.cpu_count)
		cpu = mal_thread_cpu(rank->primary.tid);
	for (unsigned int i = 0; i < rank->cpus.owned_count; i++)
		if (rank->cpus.owned[i] == cpu)
			return cpu;
	return rank->cpus.owned[0];
}

bool mal_wait_poll_for(struct mal_rank *rank, uint64_t since)
{
	uint64_t now = mal_ticks();
	bool locked;

	if (!rank->active)
		return false;
	if (rank->unmanaged && now - rank->primary.last_leave > rank->lend.after)
		mal_unmanaged_wait(rank, now - rank->primary.last_leave);
	if (!atomic_load_explicit(&rank->slot->waiting_since, memory_order_relaxed))
		mal_wait_begin(now - since);
	if (now < rank->lend.next_look)
		return false;
	mal_outside_look_at_polls(rank, now);
	if (!concerns_others(rank))
		return true;
	locked = mal_cpus_lock(rank);
	if (!rank->lend.lending)
		rank->lend_own.kept = rank->helper.blocks && !mal_rule(rank, MAL_RULE_KEEP_ONE)
					      ? MAL_NO_CPU
					      : cpu_of_waiter(rank);
	lend_now(rank, now, rank->lend.kept);
	mal_cpus_unlock(rank, locked);
	return true;
}

static void wait_end(struct mal_rank *rank)
{
	uint64_t now = atomic_load_explicit(&rank->lend.abandoned, memory_order_acquire);

	mal_self.waiting = false;
	if (rank->lend.lending)
		take_back(rank);
	atomic_store_explicit(&rank->slot->waiting_since, 0, memory_order_release);
	if (now)
		atomic_store_explicit(&rank->lend_own.abandoned, 0, memory_order_relaxed);
	else
		now = mal_ticks();
	if (rank->unmanaged)
		mal_unmanaged_wait_end(rank, now - rank->primary.last_leave);
	if (now - rank->primary.last_leave > rank->lend.after)
		rank->lend_own.usual_wait =
			rank->lend.usual_wait
				? (3 * rank->lend.usual_wait + now - rank->primary.last_leave) / 4
				: now - rank->primary.last_leave;
	mal_count(&rank->slot->count.mpi, now - rank->primary.last_leave);
	mal_primary_left(rank, now);
	mal_primary_left_mpi(rank, now);
}

__attribute__((noinline)) static void end_unusual(struct mal_rank *rank)
{
	if (mal_self.waiting)
		wait_end(rank);
	else if (atomic_load_explicit(&rank->segment.header->free_cpus, memory_order_relaxed))
		mal_primary_left_mpi(rank, mal_ticks());
	if (rank->unmanaged)
		mal_unmanaged_call_end(rank);
}

void mal_call_end(void)
{
	/* While no CPU is lent nobody asks when the call ended: those who wait for us do later. */
	if (mal_self.waiting || (mal.unmanaged && mal_unmanaged_may_ask(&mal)) ||
	    atomic_load_explicit(&mal.segment.header->free_cpus, memory_order_relaxed))
		end_unusual(&mal);
}

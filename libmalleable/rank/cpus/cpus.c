/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cpus.c: the CPUs that this rank owns and borrows.
 *
 * Invariant: a CPU that is given to a rank that ends is free afterwards (t/unit/test_protocol.c:
 * moved_to_a_rank_that_ends; t/t3002-moves.t).
 */
#include "libmalleable/rank/cpus/cpus.h"

#include "libmalleable/base/futex.h"
#include "libmalleable/core/changes.h"
#include "libmalleable/core/request.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/lock.h"
#include "libmalleable/rank/state/rank.h"

static bool usable(const struct mal_rank *rank, unsigned int cpu)
{
	return mal_cpumask_has(&rank->allocation, cpu);
}

/*
 * Make the COUNT CPUs in OWNED our own. Those we had keep their places in the list, so their
 * threads stay.
 */
static void keep_places(struct mal_rank *rank, struct mal_cpumask *owned, unsigned int count)
{
	bool kept[MAL_MAX_CPUS];
	unsigned int cpu = 0;

	for (unsigned int i = 0; i < count; i++) {
		kept[i] = i < rank->cpus.owned_count && mal_cpumask_has(owned, rank->cpus.owned[i]);
		if (kept[i])
			mal_cpumask_remove(owned, rank->cpus.owned[i]);
	}
	for (unsigned int i = 0; i < count; i++) {
		if (kept[i])
			continue;
		cpu = mal_cpumask_next(owned, cpu);
		rank->cpus_own.owned[i] = (uint16_t)cpu;
		mal_cpumask_remove(owned, cpu);
	}
	rank->cpus_own.owned_count = count;
	if (count >= rank->cpus.planned)
		rank->cpus_own.planned = 0;
}

static unsigned int core_of(const struct mal_rank *rank, unsigned int place)
{
	return atomic_load_explicit(&rank->segment.cpus[rank->cpus.owned[place]].core,
				    memory_order_relaxed);
}

/* Whether the CPU in PLACE is on the core of one of the first COUNT. */
static bool shares_core(const struct mal_rank *rank, unsigned int place, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (core_of(rank, i) == core_of(rank, place))
			return true;
	return false;
}

/*
 * Use one hardware thread per core before using siblings, where the team uses only some of our
 * CPUs.
 */
static void spread_over_cores(struct mal_rank *rank)
{
	unsigned int used = mal_cpus_to_use(rank, rank->cpus.owned_count);

	for (unsigned int i = 1; i < used && used < rank->cpus.owned_count; i++) {
		unsigned int other = i;
		uint16_t cpu = rank->cpus.owned[i];

		while (other < rank->cpus.owned_count && shares_core(rank, other, i))
			other++;
		if (other == rank->cpus.owned_count)
			return;
		rank->cpus_own.owned[i] = rank->cpus.owned[other];
		rank->cpus_own.owned[other] = cpu;
	}
}

/* Take our lent CPU back, unless we lend just now: nobody else would. */
static void own_lent(const struct mal_rank *rank, mal_word *word, unsigned int cpu)
{
	unsigned int borrower;

	if (rank->lend.lending)
		return;
	borrower = mal_word_reclaim(word, rank->me);
	mal_free_check(&rank->segment, cpu);
	mal_count(&rank->slot->count.reclaims, 1);
	if (borrower < rank->segment.rank_count)
		mal_bind_evict(rank, borrower, cpu);
}

static void read_words(struct mal_rank *rank)
{
	struct mal_cpumask owned = {{0}};
	unsigned int count = 0;

	rank->cpus_own.borrowed_count = 0;
	mal_bind_outdate(rank);
	for (unsigned int cpu = 0; cpu < rank->segment.cpu_count; cpu++) {
		struct mal_cpu_state state;

		if (!usable(rank, cpu))
			continue;
		state = mal_word_read(&rank->segment.cpus[cpu].word);
		if (state.owner == rank->me && state.user == MAL_NOBODY && !state.lent &&
		    !rank->bounds.disabled &&
		    mal_word_take(&rank->segment.cpus[cpu].word, rank->me)) {
			mal_count(&rank->slot->count.moves, 1);
			state.user = rank->me;
		}
		if (state.owner == rank->me && state.lent)
			own_lent(rank, &rank->segment.cpus[cpu].word, cpu);
		else if (state.user != rank->me)
			continue;
		if (state.owner != rank->me) {
			rank->cpus_own.borrowed[rank->cpus_own.borrowed_count++] = (uint16_t)cpu;
			continue;
		}
		mal_cpumask_add(&owned, cpu);
		count++;
	}
	if (!rank->lend.lending)
		atomic_store(&rank->lends_asleep, false);
	keep_places(rank, &owned, count);
	spread_over_cores(rank);
}

bool mal_cpus_refresh(struct mal_rank *rank)
{
	uint32_t changes = atomic_load_explicit(&rank->slot->changes, memory_order_acquire);
	bool locked;

	if (changes == rank->cpus.seen_changes)
		return false;
	locked = mal_cpus_lock(rank);
	rank->cpus_own.seen_changes = changes;
	read_words(rank);
	if (rank->unmanaged)
		mal_bind_other_threads(rank);
	mal_cpus_unlock(rank, locked);
	return true;
}

/* 0: same L3, 1: same NUMA node, 2: other. */
static unsigned int distance(const struct mal_rank *rank, unsigned int a, unsigned int b)
{
	const struct mal_cpu_slot *cpus = rank->segment.cpus;

	if (cpus[a].l3 == cpus[b].l3)
		return 0;
	return cpus[a].numa == cpus[b].numa ? 1 : 2;
}

/*
 * Borrow CPUs at distance RING from ours, or at ANY, until GOT reaches LIMIT. Returns the new GOT.
 */
static unsigned int borrow_ring(struct mal_rank *rank, unsigned int ring, bool any,
				unsigned int got, unsigned int limit)
{
	for (unsigned int cpu = 0; cpu < rank->segment.cpu_count && got < limit; cpu++) {
		if (!usable(rank, cpu) ||
		    (!any && distance(rank, cpu, rank->cpus.owned[0]) != ring))
			continue;
		if (!mal_word_borrow(&rank->segment.cpus[cpu].word, rank->me))
			continue;
		mal_free_check(&rank->segment, cpu);
		rank->cpus_own.borrowed[rank->cpus_own.borrowed_count++] = (uint16_t)cpu;
		got++;
	}
	return got;
}

unsigned int mal_cpus_borrow(struct mal_rank *rank, unsigned int limit)
{
	bool any = mal_rule(rank, MAL_RULE_ANY_ORDER);
	unsigned int rings = any ? 1 : mal_rule(rank, MAL_RULE_NEAR_ONLY) ? 2 : 3, got = 0;
	unsigned int max = atomic_load_explicit(&rank->segment.header->max, memory_order_relaxed);
	bool locked = mal_cpus_lock(rank);
	unsigned int have = rank->cpus.owned_count + rank->cpus.borrowed_count;
	unsigned int room = max > have ? max - have : 0;

	if (max && limit > room)
		limit = room;
	/* A CPU is in the list once, unless a hostile rank writes to the words. */
	if (limit > MAL_MAX_CPUS - rank->cpus.borrowed_count)
		limit = MAL_MAX_CPUS - rank->cpus.borrowed_count;
	for (unsigned int ring = 0; ring < rings; ring++)
		got = borrow_ring(rank, ring, any, got, limit);
	if (got)
		mal_bind_outdate(rank);
	mal_count(&rank->slot->count.borrows, got);
	mal_cpus_unlock(rank, locked);
	return got;
}

void mal_cpus_release(struct mal_rank *rank)
{
	mal_cpus_release_beyond(rank, 0);
}

/* Wake the lender that sleeps until CPU is free. */
static void wake_lender(struct mal_cpu_slot *cpu)
{
	atomic_fetch_add_explicit(&cpu->wake, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&cpu->sleepers, memory_order_seq_cst))
		mal_futex_wake(&cpu->wake, INT32_MAX);
}

static void release_beyond(struct mal_rank *rank, unsigned int kept)
{
	unsigned int count = rank->cpus.borrowed_count;

	for (unsigned int i = kept; i < count; i++) {
		unsigned int cpu = rank->cpus.borrowed[i];

		if (!rank->unmanaged)
			mal_bind_send_home(rank, cpu);
		if (mal_word_release(&rank->segment.cpus[cpu].word, rank->me))
			mal_free_check(&rank->segment, cpu);
	}
	mal_bind_outdate(rank);
	rank->cpus_own.borrowed_count = kept;
	if (rank->unmanaged)
		mal_bind_other_threads(rank);
	/* At last: a lender takes the CPU from a thread of ours that has not left it. */
	for (unsigned int i = kept; i < count; i++)
		wake_lender(&rank->segment.cpus[rank->cpus.borrowed[i]]);
}

void mal_cpus_release_beyond(struct mal_rank *rank, unsigned int kept)
{
	bool locked = mal_cpus_lock(rank);

	mal_cpus_refresh(rank);
	if (rank->cpus.borrowed_count > kept)
		release_beyond(rank, kept);
	mal_cpus_unlock(rank, locked);
}

unsigned int mal_cpus_to_use(const struct mal_rank *rank, unsigned int cpus)
{
	uint32_t use = atomic_load_explicit(&rank->slot->use, memory_order_relaxed);

	return mal_limited(rank, use && use < cpus ? use : cpus);
}

static bool is_running(const struct mal_rank *rank, unsigned int number)
{
	return atomic_load(&rank->segment.ranks[number].state) == MAL_RANK_RUNNING;
}

/*
 * Move CPU, which our threads have left, to rank TO. If TO is inside a region it can use the CPU at
 * once. TO may end meanwhile: it says so before it looks for its CPUs, and we look after giving.
 */
static void give(const struct mal_rank *rank, unsigned int cpu, unsigned int to)
{
	mal_word *word = &rank->segment.cpus[cpu].word;

	if (!mal_word_move(word, rank->me, to))
		return;
	mal_changes_add(&rank->segment.ranks[to]);
	if (is_running(rank, to)) {
		mal_bind_spread(rank, to, cpu);
		return;
	}
	mal_word_recover(word, to);
	mal_free_check(&rank->segment, cpu);
}

static unsigned int planned_cpus(const struct mal_rank *rank)
{
	unsigned int count = 0;

	for (unsigned int cpu = 0; cpu < rank->segment.cpu_count; cpu++)
		count += usable(rank, cpu) &&
			 atomic_load(&rank->segment.cpus[cpu].target) == rank->me;
	return count;
}

void mal_cpus_apply_plan(struct mal_rank *rank)
{
	uint16_t given[MAL_MAX_CPUS];
	unsigned int to[MAL_MAX_CPUS];
	struct mal_cpumask keep = {{0}};
	unsigned int given_count = 0;
	unsigned int kept = 0;
	bool locked = mal_cpus_lock(rank);

	rank->cpus_own.seen_plan =
		atomic_load_explicit(&rank->segment.header->plan, memory_order_acquire);
	rank->cpus_own.seen_changes = mal_changes_add(rank->slot);
	read_words(rank);
	rank->cpus_own.plan_unfinished = false;
	for (unsigned int i = 0; i < rank->cpus.owned_count; i++) {
		unsigned int target = atomic_load(&rank->segment.cpus[rank->cpus.owned[i]].target);
		bool last = kept == 0 && i + 1 == rank->cpus.owned_count;
		bool leaves = target < rank->segment.rank_count && target != rank->me &&
			      is_running(rank, target);

		/* A rank that is to give up all its CPUs keeps one until it has got another. */
		rank->cpus_own.plan_unfinished |= leaves && last;
		if (leaves && !last) {
			to[given_count] = target;
			given[given_count++] = rank->cpus.owned[i];
		} else {
			mal_cpumask_add(&keep, rank->cpus.owned[i]);
			kept++;
		}
	}
	rank->cpus_own.planned = planned_cpus(rank);
	keep_places(rank, &keep, kept);
	if (given_count) {
		mal_bind_team(rank, rank->team.size);
		mal_bind_other_threads(rank);
	}
	for (unsigned int i = 0; i < given_count; i++)
		give(rank, given[i], to[i]);
	mal_cpus_unlock(rank, locked);
}

void mal_cpus_leave(struct mal_rank *rank)
{
	mal_request_forget(&rank->segment, rank->me);
	mal_cpus_release(rank);
	/* From here on nobody gives us a CPU, or takes it back again: see give(). */
	atomic_store(&rank->slot->state, MAL_RANK_ENDED);
	for (unsigned int cpu = 0; cpu < rank->segment.cpu_count; cpu++) {
		mal_word *word = &rank->segment.cpus[cpu].word;

		mal_word_take(word, rank->me);
		if (mal_word_lend(word, rank->me))
			mal_free_check(&rank->segment, cpu);
	}
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cpus.c: the CPUs that this rank owns and borrows. */
#include "libmalleable/rank/cpus/cpus.h"

#include "libmalleable/base/futex.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/state/state.h"

static bool usable(unsigned int cpu)
{
	return mal_cpumask_has(&mal.allocation, cpu);
}

/*
 * Make the COUNT CPUs in OWNED our own. Those we had keep their places in the list, so their
 * threads stay.
 */
static void keep_places(struct mal_cpumask *owned, unsigned int count)
{
	bool kept[MAL_MAX_CPUS];
	unsigned int cpu = 0;

	for (unsigned int i = 0; i < count; i++) {
		kept[i] = i < mal.own_count && mal_cpumask_has(owned, mal.own[i]);
		if (kept[i])
			mal_cpumask_remove(owned, mal.own[i]);
	}
	for (unsigned int i = 0; i < count; i++) {
		if (kept[i])
			continue;
		cpu = mal_cpumask_next(owned, cpu);
		mal.own[i] = (uint16_t)cpu;
		mal_cpumask_remove(owned, cpu);
	}
	mal.own_count = count;
	if (count >= mal.planned)
		mal.planned = 0;
}

static unsigned int core_of(unsigned int place)
{
	return atomic_load_explicit(&mal.segment.cpus[mal.own[place]].core, memory_order_relaxed);
}

/* Whether the CPU in PLACE is on the core of one of the first COUNT. */
static bool shares_core(unsigned int place, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (core_of(i) == core_of(place))
			return true;
	return false;
}

/*
 * Use one hardware thread per core before using siblings, where the team uses only some of our
 * CPUs.
 */
static void spread_over_cores(void)
{
	unsigned int used = mal_cpus_to_use(mal.own_count);

	for (unsigned int i = 1; i < used && used < mal.own_count; i++) {
		unsigned int other = i;
		uint16_t cpu = mal.own[i];

		while (other < mal.own_count && shares_core(other, i))
			other++;
		if (other == mal.own_count)
			return;
		mal.own[i] = mal.own[other];
		mal.own[other] = cpu;
	}
}

/* Take our lent CPU back, unless we lend just now: nobody else would. */
static void own_lent(mal_word *word, unsigned int cpu)
{
	unsigned int borrower;

	if (mal.lending)
		return;
	borrower = mal_word_reclaim(word, mal.me);
	mal_free_check(&mal.segment, cpu);
	if (borrower < mal.segment.rank_count)
		mal_bind_evict(borrower, cpu);
}

static void read_words(void)
{
	struct mal_cpumask owned = {{0}};
	unsigned int count = 0;

	mal.borrowed_count = 0;
	mal_bind_outdate();
	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++) {
		struct mal_cpu_state state;

		if (!usable(cpu))
			continue;
		state = mal_word_read(&mal.segment.cpus[cpu].word);
		if (state.owner == mal.me && state.user == MAL_NOBODY && !state.lent &&
		    mal_word_take(&mal.segment.cpus[cpu].word, mal.me)) {
			mal_count(&mal.slot->count.moves, 1);
			state.user = mal.me;
		}
		if (state.owner == mal.me && state.lent)
			own_lent(&mal.segment.cpus[cpu].word, cpu);
		else if (state.user != mal.me)
			continue;
		if (state.owner != mal.me) {
			mal.borrowed[mal.borrowed_count++] = (uint16_t)cpu;
			continue;
		}
		mal_cpumask_add(&owned, cpu);
		count++;
	}
	keep_places(&owned, count);
	spread_over_cores();
}

bool mal_cpus_refresh(void)
{
	uint32_t changes = atomic_load_explicit(&mal.slot->changes, memory_order_acquire);

	if (changes == mal.seen_changes)
		return false;
	mal.seen_changes = changes;
	read_words();
	if (mal.unmanaged)
		mal_bind_other_threads();
	return true;
}

/* 0: same L3, 1: same NUMA node, 2: other. */
static unsigned int distance(unsigned int a, unsigned int b)
{
	const struct mal_cpu_slot *cpus = mal.segment.cpus;

	if (cpus[a].l3 == cpus[b].l3)
		return 0;
	return cpus[a].numa == cpus[b].numa ? 1 : 2;
}

/*
 * Borrow CPUs at distance RING from ours, or at ANY, until GOT reaches LIMIT. Returns the new GOT.
 */
static unsigned int borrow_ring(unsigned int ring, bool any, unsigned int got, unsigned int limit)
{
	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count && got < limit; cpu++) {
		if (!usable(cpu) || (!any && distance(cpu, mal.own[0]) != ring))
			continue;
		if (!mal_word_borrow(&mal.segment.cpus[cpu].word, mal.me))
			continue;
		mal_free_check(&mal.segment, cpu);
		mal.borrowed[mal.borrowed_count++] = (uint16_t)cpu;
		got++;
	}
	return got;
}

unsigned int mal_cpus_borrow(unsigned int limit)
{
	unsigned int rings = mal_rule(MAL_RULE_NEAR_ONLY) ? 2 : 3, got = 0;
	unsigned int max = atomic_load_explicit(&mal.segment.header->max, memory_order_relaxed);
	unsigned int have = mal.own_count + mal.borrowed_count;

	if (max && limit > (max > have ? max - have : 0))
		limit = max > have ? max - have : 0;
	/* A CPU is in the list once, unless a hostile rank writes to the words. */
	if (limit > MAL_MAX_CPUS - mal.borrowed_count)
		limit = MAL_MAX_CPUS - mal.borrowed_count;
	if (mal_rule(MAL_RULE_ANY_ORDER))
		got = borrow_ring(0, true, got, limit);
	else
		for (unsigned int ring = 0; ring < rings; ring++)
			got = borrow_ring(ring, false, got, limit);
	if (got)
		mal_bind_outdate();
	mal_count(&mal.slot->count.borrows, got);
	return got;
}

void mal_cpus_release(void)
{
	mal_cpus_refresh();
	if (!mal.borrowed_count)
		return;
	for (unsigned int i = 0; i < mal.borrowed_count; i++) {
		struct mal_cpu_slot *cpu = &mal.segment.cpus[mal.borrowed[i]];

		if (!mal.unmanaged)
			mal_bind_send_home(mal.borrowed[i]);
		if (!mal_word_release(&cpu->word, mal.me))
			continue;
		mal_free_check(&mal.segment, mal.borrowed[i]);
		atomic_fetch_add_explicit(&cpu->wake, 1, memory_order_seq_cst);
		if (atomic_load_explicit(&cpu->sleepers, memory_order_seq_cst))
			mal_futex_wake(&cpu->wake, INT32_MAX);
	}
	mal_bind_outdate();
	mal.borrowed_count = 0;
	if (mal.unmanaged)
		mal_bind_other_threads();
}

unsigned int mal_cpus_to_use(unsigned int cpus)
{
	uint32_t use = atomic_load_explicit(&mal.slot->use, memory_order_relaxed);

	return use && use < cpus ? use : cpus;
}

void mal_cpus_want(bool want)
{
	if (want == mal.wants)
		return;
	mal.wants = want;
	atomic_store(&mal.slot->wants, want);
	mal_borrower_check(&mal.segment, mal.me);
}

static bool is_running(unsigned int rank)
{
	return atomic_load(&mal.segment.ranks[rank].state) == MAL_RANK_RUNNING;
}

/*
 * Move CPU, which our threads have left, to rank TO. If TO is inside a region it can use the CPU at
 * once. TO may end meanwhile: it says so before it looks for its CPUs, and we look after giving.
 */
static void give(unsigned int cpu, unsigned int to)
{
	mal_word *word = &mal.segment.cpus[cpu].word;

	if (!mal_word_move(word, mal.me, to))
		return;
	atomic_fetch_add_explicit(&mal.segment.ranks[to].changes, 1, memory_order_seq_cst);
	if (is_running(to)) {
		mal_bind_spread(to, cpu);
		return;
	}
	mal_word_recover(word, to);
	mal_free_check(&mal.segment, cpu);
}

static unsigned int planned_cpus(void)
{
	unsigned int count = 0;

	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++)
		count += usable(cpu) && atomic_load(&mal.segment.cpus[cpu].target) == mal.me;
	return count;
}

void mal_cpus_apply_plan(void)
{
	uint16_t given[MAL_MAX_CPUS];
	unsigned int to[MAL_MAX_CPUS];
	struct mal_cpumask keep = {{0}};
	unsigned int given_count = 0;
	unsigned int kept = 0;

	mal.seen_plan = atomic_load_explicit(&mal.segment.header->plan, memory_order_acquire);
	mal.seen_changes = atomic_load_explicit(&mal.slot->changes, memory_order_acquire);
	read_words();
	mal.plan_unfinished = false;
	for (unsigned int i = 0; i < mal.own_count; i++) {
		unsigned int target = atomic_load(&mal.segment.cpus[mal.own[i]].target);
		bool last = kept == 0 && i + 1 == mal.own_count;
		bool leaves =
			target < mal.segment.rank_count && target != mal.me && is_running(target);

		/* A rank that is to give up all its CPUs keeps one until it has got another. */
		mal.plan_unfinished |= leaves && last;
		if (leaves && !last) {
			to[given_count] = target;
			given[given_count++] = mal.own[i];
		} else {
			mal_cpumask_add(&keep, mal.own[i]);
			kept++;
		}
	}
	mal.planned = planned_cpus();
	keep_places(&keep, kept);
	if (given_count) {
		mal_bind_team(mal.team);
		mal_bind_other_threads();
	}
	for (unsigned int i = 0; i < given_count; i++)
		give(given[i], to[i]);
}

void mal_cpus_leave(void)
{
	mal_cpus_want(false);
	mal_wants_cpus_close(&mal.segment, mal.me);
	mal_cpus_release();
	/* From here on nobody gives us a CPU, or takes it back again: see give(). */
	atomic_store(&mal.slot->state, MAL_RANK_ENDED);
	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++) {
		mal_word *word = &mal.segment.cpus[cpu].word;

		if (mal_word_take(word, mal.me) || mal_word_read(word).owner == mal.me) {
			if (mal_word_lend(word, mal.me))
				mal_free_check(&mal.segment, cpu);
		}
	}
}

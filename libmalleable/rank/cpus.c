/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cpus.c: the CPUs that this rank owns and borrows. */
#include "libmalleable/rank/cpus.h"

#include "libmalleable/core/futex.h"
#include "libmalleable/rank/bind.h"
#include "libmalleable/rank/state.h"

static bool usable(unsigned int cpu)
{
	return mal_cpumask_has(&mal.allocation, cpu);
}

/* The COUNT CPUs in OWNED are ours now. Those that were before keep their places in the list, and so their threads. */
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

/* Is the CPU in PLACE on a core of which one of the first COUNT is? */
static bool shares_core(unsigned int place, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (core_of(i) == core_of(place))
			return true;
	return false;
}

/* Where only some of our CPUs are used they are on different cores, as far as there are: second hardware threads are left off first. */
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
		if (state.user != mal.me)
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
	if (mal.loose)
		mal_bind_other_threads();
	return true;
}

/* 0: same L3, 1: same NUMA node, 2: elsewhere. */
static unsigned int distance(unsigned int a, unsigned int b)
{
	const struct mal_cpu_slot *cpus = mal.segment.cpus;

	if (cpus[a].l3 == cpus[b].l3)
		return 0;
	return cpus[a].numa == cpus[b].numa ? 1 : 2;
}

/* Borrow CPUs that are RING away from ours, or ANY, until GOT is LIMIT. Returns the new GOT. */
static unsigned int borrow_ring(unsigned int ring, bool any, unsigned int got, unsigned int limit)
{
	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count && got < limit; cpu++) {
		if (!usable(cpu) || (!any && distance(cpu, mal.own[0]) != ring))
			continue;
		if (!mal_word_borrow(&mal.segment.cpus[cpu].word, mal.me))
			continue;
		atomic_fetch_sub_explicit(&mal.segment.header->free_cpus, 1, memory_order_relaxed);
		mal.borrowed[mal.borrowed_count++] = (uint16_t)cpu;
		got++;
	}
	return got;
}

unsigned int mal_cpus_borrow(unsigned int limit)
{
	unsigned int rings = mal_rule(MAL_RULE_NEAR_ONLY) ? 2 : 3, got = 0;
	unsigned int most = atomic_load_explicit(&mal.segment.header->most, memory_order_relaxed);
	unsigned int have = mal.own_count + mal.borrowed_count;

	if (most && limit > (most > have ? most - have : 0))
		limit = most > have ? most - have : 0;
	/* A CPU is in the list once, unless somebody else scribbles over the words. */
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

		if (!mal_word_release(&cpu->word, mal.me))
			continue;
		atomic_fetch_add_explicit(&mal.segment.header->free_cpus, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&cpu->wake, 1, memory_order_seq_cst);
		if (atomic_load_explicit(&cpu->sleepers, memory_order_seq_cst))
			mal_futex_wake(&cpu->wake, INT32_MAX);
	}
	mal_bind_outdate();
	mal.borrowed_count = 0;
	if (mal.loose)
		mal_bind_other_threads();
}

unsigned int mal_cpus_to_use(unsigned int cpus)
{
	uint32_t use = atomic_load_explicit(&mal.slot->use, memory_order_relaxed);

	return use && use < cpus ? use : cpus;
}

void mal_cpus_want(bool want)
{
	if (want == mal.borrower)
		return;
	mal.borrower = want;
	atomic_fetch_add_explicit(&mal.segment.header->borrowers, want ? 1u : UINT32_MAX, memory_order_relaxed);
}

/* Move CPU to rank TO; our threads have left it. Where TO is already in a region it can use the CPU at once. */
static void give(unsigned int cpu, unsigned int to)
{
	if (!mal_word_move(&mal.segment.cpus[cpu].word, mal.me, to))
		return;
	atomic_fetch_add_explicit(&mal.segment.ranks[to].changes, 1, memory_order_release);
	mal_bind_spread(to, cpu);
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

		/* A rank that is to leave all its CPUs keeps one until it has got another. */
		mal.plan_unfinished |= target < mal.segment.rank_count && target != mal.me && last;
		if (target < mal.segment.rank_count && target != mal.me && !last) {
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
	mal_hungry_say(&mal.segment, mal.me, false);
	mal_cpus_release();
	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++) {
		mal_word *word = &mal.segment.cpus[cpu].word;

		if (mal_word_take(word, mal.me) || mal_word_read(word).owner == mal.me) {
			if (mal_word_lend(word, mal.me))
				atomic_fetch_add_explicit(&mal.segment.header->free_cpus, 1, memory_order_relaxed);
		}
	}
}

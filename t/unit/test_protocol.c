/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_protocol.c: what a rank does to CPUs and threads while another one acts at the same moment.
 *
 * The rank library's lend.c, cpus.c and bind.c run here as rank 0 on a segment of three ranks with
 * two CPUs each. The other ranks act at the critical moments, by functions that the linker wraps:
 * where a thread is bound (mal_bind_thread) and where a word has just changed (mal_free_check). No
 * test depends on time.
 */
#include "t/unit/rank_fixture.h"

#include <unistd.h>

#include "libmalleable/core/changes.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/borrower_use.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/cpus/pins.h"
#include "libmalleable/rank/lend.h"
#include "libmalleable/rank/state/rank.h"

#define RANKS 3u
#define CPUS 6u
#define THREADS 3u

/* Rank R has CPUs 2R and 2R + 1, and a team of three threads on them. */
static int set_up(void **state)
{
	(void)state;
	open_ranks(RANKS, CPUS / RANKS, THREADS);
	for (unsigned int rank = 0; rank < RANKS; rank++) {
		mal.segment.ranks[rank].pid = 1;
		mal.segment.ranks[rank].team = THREADS;
		for (unsigned int i = 0; i < THREADS; i++) {
			put_thread(rank, i, 2 * rank + i / 2);
			thread_of(rank, i)->home = 2 * rank + i / 2;
		}
	}
	/* Threads 0 and 1 share a CPU, as place_of() says. */
	mal.slot->changes = 1;
	assert_true(mal_cpus_refresh(&mal));
	assert_int_equal(mal.cpus.owned_count, 2);
	mal.team_own.size = THREADS;
	mal_bind_team(&mal, THREADS);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_ranks();
	return 0;
}

static void rank_1_ends_its_region(void)
{
	mal_request_close(&mal.segment, 1);
}

/* Wait until our CPUs are lent, or would be. */
static void wait_and_lend(void)
{
	let_borrow(2);
	mal_wait_begin(0);
	while (!mal.lend.lending) {
		turn_clock(10 * US);
		mal_wait_poll();
	}
}

static void rank_1_leaves(void)
{
	mal.segment.ranks[1].state = MAL_RANK_ENDED;
	for (unsigned int cpu = 2; cpu < 4; cpu++)
		assert_true(mal_word_lend(word_of(cpu), 1));
}

/* A CPU is moved to a rank that ends while we leave the CPU. */
static void moved_to_a_rank_that_ends(void **state)
{
	(void)state;
	mal.segment.cpus[0].target = 1;
	while_binding = rank_1_leaves;
	mal_cpus_apply_plan(&mal);
	assert_null(while_binding);
	assert_true(cpu_state(0).lent);
	assert_int_equal(cpu_state(0).user, MAL_NOBODY);
	assert_true(mal.segment.header->free_cpus & 1);
}

static void rank_1_finds_cpus(void)
{
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		if (cpu_state(cpu).user == 1 && cpu_state(cpu).owner == 0)
			put_thread(1, 1, cpu);
}

/*
 * Rank 1 reads its words between grant and spread and needs no more: the CPU and the thread come
 * back.
 */
static void rolled_back(void **state)
{
	(void)state;
	open_region(1);
	while_changing = rank_1_finds_cpus;
	wait_and_lend();
	mal_call_end();
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(where_is(1, i) / 2, 1);
	assert_int_equal(cpu_state(0).user, 0);
	assert_int_equal(cpu_state(1).user, 0);
}

/* Rank 2, the owner, takes CPU 4 back, and sends the thread home that is on its way there. */
static void rank_2_takes_back(void)
{
	uint32_t expected = 4;

	assert_int_equal(mal_word_reclaim(word_of(4), 2), 1);
	assert_true(atomic_compare_exchange_strong(&thread_of(1, 1)->cpu, &expected, 2));
	test_kernel.at[thread_of(1, 1)->tid] = 2;
}

static void late_spread(void **state)
{
	(void)state;
	mal_word_set(word_of(4), (struct mal_cpu_state){2, 1, true});
	while_binding = rank_2_takes_back;
	assert_int_equal(mal_bind_spread(&mal, 1, 4), MAL_SPREAD_DONE);
	assert_null(while_binding);
	assert_int_equal(where_is(1, 1), 2);
}

static void lender_sleeps_on(void)
{
	assert_int_equal(mal.segment.cpus[4].wake, 0);
	assert_int_equal(cpu_state(4).user, MAL_NOBODY);
}

/* A lender that woke before our threads have left its CPU would take it from one of them. */
static void lender_wakes_when_our_threads_have_left(void **state)
{
	(void)state;
	mal_word_set(word_of(4), (struct mal_cpu_state){2, 0, true});
	mal_changes_add(mal.slot);
	mal.unmanaged = mal.slot->unmanaged = true;
	mal_pins_give(&mal, 0, &test_kernel.mask[0]);
	assert_true(mal_cpus_refresh(&mal));
	assert_int_equal(mal.cpus.borrowed_count, 1);
	while_binding = lender_sleeps_on;
	mal_cpus_release(&mal);
	assert_null(while_binding);
	assert_int_equal(mal.segment.cpus[4].wake, 1);
}

static void rank_2_takes_ours_back(void)
{
	uint32_t expected = 4;

	assert_int_equal(mal_word_reclaim(word_of(4), 2), 0);
	assert_true(atomic_compare_exchange_strong(&thread_of(0, 1)->cpu, &expected, 1));
	test_kernel.at[thread_of(0, 1)->tid] = 1;
}

/* The same for a thread that binds itself. */
static void late_thread_that_binds_itself(void **state)
{
	(void)state;
	mal_word_set(word_of(4), (struct mal_cpu_state){2, 0, true});
	thread_of(0, 1)->cpu = 4;
	thread_of(0, 1)->bound_cpu = MAL_NO_CPU;
	while_binding = rank_2_takes_ours_back;
	mal_bind_self(&mal, thread_of(0, 1));
	assert_null(while_binding);
	assert_int_equal(where_is(0, 1), 1);
}

static void rank_2_takes_ours_back_and_dies(void)
{
	assert_int_equal(mal_word_reclaim(word_of(4), 2), 0);
}

/* Its owner takes a CPU back, and is killed before it looks who is there. */
static void late_thread_of_a_dead_owner(void **state)
{
	(void)state;
	mal_word_set(word_of(4), (struct mal_cpu_state){2, 0, true});
	thread_of(0, 1)->cpu = 4;
	thread_of(0, 1)->bound_cpu = MAL_NO_CPU;
	while_binding = rank_2_takes_ours_back_and_dies;
	mal_bind_self(&mal, thread_of(0, 1));
	assert_null(while_binding);
	assert_int_equal(where_is(0, 1), thread_of(0, 1)->home);
}

static void thread_is_replaced(void)
{
	thread_of(1, 1)->tid = 50;
	thread_of(1, 1)->bound_cpu = MAL_NO_CPU;
}

/* The runtime has a new thread in place of the one that is sent. */
static void another_thread(void **state)
{
	(void)state;
	mal_word_set(word_of(4), (struct mal_cpu_state){2, 1, true});
	while_binding = thread_is_replaced;
	assert_int_equal(mal_bind_spread(&mal, 1, 4), MAL_SPREAD_DONE);
	assert_int_equal(test_kernel.at[50], 4);
}

/* Rank 1's region ends while its thread is sent home: it must not get CPUs then. */
static void late_request(void **state)
{
	(void)state;
	wait_and_lend();
	mal_request_open(&mal.segment, 1, 1, 0, 1, false);
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		if (cpu_state(cpu).lent)
			assert_true(mal_word_borrow(word_of(cpu), 1));
	put_thread(1, 1, 0);
	while_binding = rank_1_ends_its_region;
	mal_call_end();
	assert_null(while_binding);
	assert_int_equal(where_is(1, 1) / 2, 1);
	assert_false(asks(1));
}

/* If the region goes on it may get CPUs. */
static void running_region_may_get_cpus(void **state)
{
	(void)state;
	wait_and_lend();
	mal_request_open(&mal.segment, 1, 1, 0, 1, false);
	assert_true(mal_word_borrow(word_of(0), 1));
	put_thread(1, 1, 0);
	mal_call_end();
	assert_true(asks(1));
}

/*
 * Rank 1's region ends while it is granted a CPU: as it waits from then on, it would not return it.
 */
static void late_grant(void **state)
{
	(void)state;
	open_region(1);
	while_binding = rank_1_ends_its_region;
	wait_and_lend();
	assert_null(while_binding);
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		assert_int_not_equal(cpu_state(cpu).user, 1);
	assert_int_equal(where_is(1, 1) / 2, 1);
	mal_call_end();
}

static void rank_1_waits(void)
{
	rank_1_ends_its_region();
	for (unsigned int cpu = 2; cpu < 4; cpu++)
		assert_true(mal_word_lend(word_of(cpu), 1));
}

/* The same, and rank 1 has lent all its CPUs by then: its thread goes home all the same. */
static void late_grant_to_a_lender(void **state)
{
	(void)state;
	open_region(1);
	while_binding = rank_1_waits;
	wait_and_lend();
	assert_null(while_binding);
	assert_int_equal(where_is(1, 1) / 2, 1);
	mal_call_end();
}

static void rank_2_borrows_what_is_returned(void)
{
	rank_1_ends_its_region();
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		if (mal_word_release(word_of(cpu), 1) && mal_word_borrow(word_of(cpu), 2))
			put_thread(2, 1, cpu);
}

/* Rank 1 has returned the CPU when the grant is rolled back, and rank 2 has borrowed it. */
static void returned_and_borrowed(void **state)
{
	(void)state;
	open_region(1);
	while_binding = rank_2_borrows_what_is_returned;
	wait_and_lend();
	assert_null(while_binding);
	assert_int_equal(where_is(1, 1) / 2, 1);
	assert_int_equal(where_is(2, 1) / 2, 2);
	mal_call_end();
}

static void rank_1_sends_home_and_waits(void)
{
	uint32_t expected = 4;

	assert_true(atomic_compare_exchange_strong(&thread_of(1, 1)->cpu, &expected, 2));
	test_kernel.at[thread_of(1, 1)->tid] = 2;
	assert_true(mal_word_release(word_of(4), 1));
	rank_1_waits();
}

/* Rank 1 returns a CPU, and lends all its own, while its thread is sent to that CPU. */
static void late_spread_of_a_lender(void **state)
{
	(void)state;
	mal_word_set(word_of(4), (struct mal_cpu_state){2, 1, true});
	while_binding = rank_1_sends_home_and_waits;
	assert_int_equal(mal_bind_spread(&mal, 1, 4), MAL_SPREAD_DONE);
	assert_null(while_binding);
	assert_int_equal(where_is(1, 1), 2);
}

/* Another process changes our CPUs while some are lent: those are still ours, and come back. */
static void lent_cpus_survive_another_order(void **state)
{
	(void)state;
	wait_and_lend();
	assert_true(cpu_state(0).lent && cpu_state(1).lent);
	atomic_fetch_add(&mal.slot->changes, 1);
	assert_true(mal_cpus_refresh(&mal));
	assert_int_equal(mal.cpus.owned_count, 2);
	assert_true(mal_word_borrow(word_of(1), 2));
	mal_call_end();
	assert_int_equal(cpu_state(0).user, 0);
	assert_int_equal(cpu_state(1).user, 0);
}

/* A lent CPU that nobody will take back, as we do not lend any more. */
static void lent_cpu_that_nobody_wants_comes_back(void **state)
{
	(void)state;
	mal_word_set(word_of(1), (struct mal_cpu_state){0, MAL_NOBODY, true});
	mal_free_check(&mal.segment, 1);
	atomic_fetch_add(&mal.slot->changes, 1);
	mal_cpus_refresh(&mal);
	assert_int_equal(mal.cpus.owned_count, 2);
	assert_int_equal(cpu_state(1).user, 0);
	assert_false(mal.segment.header->free_cpus);
}

/*
 * The library's own note (bound) is wrong if two ranks bound a thread at once: a changed place is
 * bound all the same.
 */
static void bound_is_wrong(void **state)
{
	(void)state;
	thread_of(0, 2)->bound_cpu = 5;
	mal_word_set(word_of(5), (struct mal_cpu_state){2, 0, true});
	atomic_fetch_add(&mal.slot->changes, 1);
	mal_cpus_refresh(&mal);
	assert_int_equal(mal.cpus.borrowed_count, 1);
	mal_bind_team(&mal, THREADS);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(where_is(0, i), thread_of(0, i)->cpu);
}

/* A thread whose home is not its rank's takes the first CPU that is. */
static void first_refuge(void **state)
{
	(void)state;
	mal_word_set(word_of(1), (struct mal_cpu_state){0, 2, true});
	thread_of(0, 2)->cpu = 2;
	thread_of(0, 2)->home = MAL_NO_CPU;
	mal_bind_self(&mal, thread_of(0, 2));
	assert_int_equal(thread_of(0, 2)->cpu, 0);
	assert_int_equal(where_is(0, 2), 0);
}

/* What has not changed is not bound again; what is forgotten is, though no place has changed. */
static void forgotten_threads_are_bound_again(void **state)
{
	(void)state;
	test_kernel.binds = 0;
	assert_false(mal_bind_team(&mal, THREADS));
	mal_bind_outdate(&mal);
	assert_true(mal_bind_team(&mal, THREADS));
	assert_int_equal(test_kernel.binds, 0);
	mal_bind_forget(&mal);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(thread_of(0, i)->bound_cpu, MAL_NO_CPU);
	assert_true(mal_bind_team(&mal, THREADS));
	assert_int_equal(test_kernel.binds, THREADS);
}

/* Whose threads were sent away reads its words again; an unmanaged rank too. */
static void evicted_threads_read_their_words(void **state)
{
	uint32_t changes = mal.segment.ranks[1].changes;

	(void)state;
	mal_word_set(word_of(4), (struct mal_cpu_state){2, 2, false});
	put_thread(1, 2, 4);
	assert_int_equal(mal_bind_evict(&mal, 1, 4), 1);
	assert_int_equal(where_is(1, 2), 3);
	assert_int_equal(mal.segment.ranks[1].changes, changes + 1);
	mal.segment.ranks[1].unmanaged = true;
	mal.segment.ranks[1].team = 0;
	mal.segment.ranks[1].pid = getpid();
	mal_pins_give(&mal, 1, &test_kernel.mask[0]);
	assert_int_equal(mal_bind_evict(&mal, 1, 4), 1);
	assert_int_equal(mal.segment.ranks[1].changes, changes + 2);
	assert_int_equal(mal.slot->binding, 0);
}

/* Its team has become smaller since: the thread that is left out is sent away too. */
static void evicted_from_a_smaller_team(void **state)
{
	(void)state;
	put_thread(1, 2, 4);
	mal.segment.ranks[1].team = 1;
	assert_int_equal(mal_bind_evict(&mal, 1, 4), 1);
	assert_int_equal(where_is(1, 2), 3);
}

static void cpu_1_is_lent(void)
{
	mal_word_set(word_of(1), (struct mal_cpu_state){2, 2, false});
}

static bool has_exactly(unsigned int tid, unsigned int first, unsigned int second)
{
	struct mal_cpumask mask = {{0}};

	mal_cpumask_add(&mask, first);
	mal_cpumask_add(&mask, second);
	return memcmp(&mask, &test_kernel.mask[tid], sizeof(mask)) == 0;
}

/* A thread that is in no team gets the CPUs that are left when a CPU goes while it is bound. */
static void late_mask(void **state)
{
	(void)state;
	test_kernel.caller = 40;
	mal_bind_new_thread(&mal);
	assert_true(has_exactly(40, 0, 1));
	while_binding = cpu_1_is_lent;
	mal_bind_new_thread(&mal);
	assert_true(has_exactly(40, 0, 0));
	/* The process's real thread: its number is none of ours. */
	mal_word_set(word_of(1), (struct mal_cpu_state){0, 0, false});
	mal_bind_other_threads(&mal);
	assert_true(has_exactly(0, 0, 1));
	while_binding = cpu_1_is_lent;
	mal_bind_other_threads(&mal);
	assert_true(has_exactly(0, 0, 0));
	assert_int_equal(mal.slot->binding, 0);
}

static bool is_untouched(unsigned int tid)
{
	return mal_cpumask_count(&test_kernel.mask[tid]) == 0;
}

/* Who only observes binds nothing, and neither does who was told not to bind. */
static void nothing_is_bound(void **state)
{
	(void)state;
	test_kernel.caller = 40;
	mal.observe = true;
	mal_bind_other_threads(&mal);
	mal_bind_new_thread(&mal);
	assert_true(is_untouched(0) && is_untouched(40));
	mal.observe = false;
	mal.segment.header->rules &= ~(uint32_t)MAL_RULE_BIND;
	mal_bind_other_threads(&mal);
	mal_bind_new_thread(&mal);
	assert_true(is_untouched(0) && is_untouched(40));
	mal.segment.header->rules |= MAL_RULE_BIND;
	mal_bind_other_threads(&mal);
	mal_bind_new_thread(&mal);
	assert_false(is_untouched(0) || is_untouched(40));
}

/* A team for which there is no room: the slots behind ours are another rank's. */
static void more_threads_than_slots(void **state)
{
	(void)state;
	assert_false(mal_bind_team(&mal, THREADS + 2));
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(thread_of(1, i)->cpu, 2 + i / 2);
}

/* CPUs that share a cache with ours are borrowed first, unless the order does not matter. */
static void near_cpus_are_borrowed_first(void **state)
{
	(void)state;
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		mal.segment.cpus[cpu].l3 = cpu == 2 || cpu == 3;
		mal.segment.cpus[cpu].numa = 0;
	}
	assert_true(mal_word_lend(word_of(2), 1));
	assert_true(mal_word_lend(word_of(4), 2));
	assert_int_equal(mal_cpus_borrow(&mal, 1), 1);
	assert_int_equal(mal.cpus.borrowed[0], 4);
	assert_int_equal(mal_cpus_borrow(&mal, 2), 1);
	assert_int_equal(mal.cpus.borrowed[1], 2);
	mal_cpus_release(&mal);
	/* Then those of the own NUMA node. */
	for (unsigned int cpu = 2; cpu < CPUS; cpu++) {
		mal.segment.cpus[cpu].l3 = cpu;
		mal.segment.cpus[cpu].numa = cpu < 4;
	}
	mal.cpus_own.seen_changes--;
	mal_cpus_refresh(&mal);
	assert_int_equal(mal_cpus_borrow(&mal, 1), 1);
	assert_int_equal(mal.cpus.borrowed[0], 4);
	mal_cpus_release(&mal);
	mal.segment.header->rules |= MAL_RULE_ANY_ORDER;
	assert_int_equal(mal_cpus_borrow(&mal, 1), 1);
	assert_int_equal(mal.cpus.borrowed[0], 2);
}

/* A team of some of our hardware threads has one on each core before it has two on any. */
static void one_on_each_core(void **state)
{
	(void)state;
	close_ranks();
	open_ranks(1, 4, 4);
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		mal.segment.cpus[cpu].core = cpu / 2;
	mal.bounds_own.limit = 1;
	assert_int_equal(mal_cpus_to_use(&mal, 4), 1);
	mal.bounds_own.limit = 3;
	assert_int_equal(mal_cpus_to_use(&mal, 4), 3);
	mal.slot->use = 2;
	assert_int_equal(mal_cpus_to_use(&mal, 4), 2);
	mal.slot->changes = 1;
	assert_true(mal_cpus_refresh(&mal));
	assert_int_equal(mal.cpus.owned_count, 4);
	assert_int_equal(mal.cpus.owned[0], 0);
	assert_int_equal(mal.cpus.owned[1], 2);
}

/* Until all CPUs are there that the plan gives us, the first one too, we know how many come. */
static void planned_cpus_are_expected(void **state)
{
	(void)state;
	mal.segment.cpus[0].target = mal.segment.cpus[1].target = 0;
	mal.segment.cpus[4].target = 0;
	mal_cpus_apply_plan(&mal);
	assert_int_equal(mal.cpus.planned, 3);
	assert_int_equal(mal.cpus.owned_count, 2);
	mal_word_set(word_of(4), (struct mal_cpu_state){0, 0, false});
	atomic_fetch_add(&mal.slot->changes, 1);
	mal_cpus_refresh(&mal);
	assert_int_equal(mal.cpus.planned, 0);
}

/* CPUs are lent only where somebody would borrow them. */
static void nobody_would_borrow(void **state)
{
	(void)state;
	mal_wait_begin(0);
	for (unsigned int i = 0; i < 1000; i++) {
		turn_clock(10 * US);
		mal_wait_poll();
	}
	assert_false(mal.lend.lending);
	assert_false(cpu_state(0).lent || cpu_state(1).lent);
	mal_call_end();
}

/* Of two regions the one that ends later is given the first CPU. */
static void the_longer_region_first(void **state)
{
	(void)state;
	mal_request_open(&mal.segment, 1, 1, test_clock.now + 2000 * MS, 1, true);
	mal_request_open(&mal.segment, 2, 1, test_clock.now + 1000 * MS, 1, true);
	wait_and_lend();
	assert_int_equal(cpu_state(1).user, 1);
	mal_call_end();
}

static bool used = true;

bool mal_borrower_uses(const struct mal_rank *rank, unsigned int number, uint64_t now)
{
	(void)rank;
	(void)number;
	(void)now;
	return used;
}

bool mal_borrower_may(const struct mal_rank *rank, unsigned int number, uint64_t now)
{
	(void)rank;
	(void)number;
	(void)now;
	return used;
}

/* Who did not use a CPU may get it again, in the same call; until then it is there for others. */
static void unused_cpus_are_there_for_all(void **state)
{
	(void)state;
	mal_request_open(&mal.segment, 1, 1, test_clock.now + 2000 * MS, 1, true);
	wait_and_lend();
	assert_int_equal(cpu_state(1).user, 1);
	/* It has as many as it can use. */
	mal_request_ask(&mal.segment, 1, false);
	used = false;
	turn_clock(1 * MS);
	mal_wait_poll();
	assert_int_equal(cpu_state(1).user, MAL_NOBODY);
	assert_true(cpu_state(1).lent && mal.segment.header->free_cpus);
	used = true;
	turn_clock(1 * MS);
	mal_wait_poll();
	assert_int_equal(cpu_state(1).user, 1);
	mal_call_end();
	assert_int_equal(cpu_state(1).user, 0);
}

/* Each CPU that a region gets lets it end earlier: the next lender chooses by that. */
static void granted_regions_end_earlier(void **state)
{
	uint64_t now = UINT64_C(1) << 40;
	uint64_t lasts = UINT64_C(600) << 12;

	(void)state;
	mal_request_open(&mal.segment, 1, 1, now + lasts, 2, true);
	assert_true(mal_request_grant(&mal.segment, 1, now));
	assert_int_equal(mal_request_read(&mal.segment, 1).cpus, 3);
	assert_int_equal(mal_request_read(&mal.segment, 1).until, (now >> 12) + 400);
	assert_true(mal_request_grant(&mal.segment, 1, now));
	assert_int_equal(mal_request_read(&mal.segment, 1).until, (now >> 12) + 300);
	/* One that should have ended is not put off, and one that has ended gets nothing. */
	assert_true(mal_request_grant(&mal.segment, 1, now + 2 * lasts));
	assert_int_equal(mal_request_read(&mal.segment, 1).until, (now >> 12) + 300);
	mal_request_close(&mal.segment, 1);
	assert_false(mal_request_grant(&mal.segment, 1, now));
}

/* Where taking back costs much, waits that typically end before that lend nothing. */
static void short_waits_do_not_pay(void **state)
{
	uint64_t began;

	(void)state;
	let_borrow(2);
	mal_wait_begin(0);
	mal.lend_own.usual_cost = 16 * MS;
	mal.lend_own.usual_wait = 8 * 16 * MS - 1;
	mal_wait_begin(0);
	began = test_clock.now;
	for (unsigned int i = 0; i < 120; i++) {
		turn_clock(1 * MS);
		mal_wait_poll();
		assert_false(mal.lend.lending);
	}
	while (!mal.lend.lending) {
		turn_clock(1 * MS);
		mal_wait_poll();
	}
	assert_true(test_clock.now - began >= 8 * 16 * MS);
	/* It is tried again some time: the cost may have been an outlier. */
	assert_int_equal(mal.lend.usual_cost, 15 * MS);
	mal_call_end();
	mal.lend_own.usual_cost = 16 * MS;
	mal.lend_own.usual_wait = 8 * 16 * MS;
	mal_wait_begin(0);
	assert_true(mal.lend.next_look < test_clock.now + 1 * MS);
	mal_call_end();
}

/* A thread whose CPU nobody borrowed goes on polling: to sleep there would lose the answer. */
static void polls_on_its_own_cpu(void **state)
{
	unsigned int naps, cpu;

	(void)state;
	open_region(1);
	wait_and_lend();
	cpu = where_is(0, 0);
	naps = test_kernel.naps;
	for (int lent = 0; lent < 2; lent++) {
		mal_word_set(word_of(cpu), (struct mal_cpu_state){0, lent ? MAL_NOBODY : 0, lent});
		mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
		turn_clock(10 * MS);
		mal_wait_poll();
		assert_int_equal(test_kernel.naps, naps);
	}
	assert_int_equal(mal.segment.cpus[cpu].sleepers, 0);
	mal_call_end();
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/* Where lending pauses, CPUs that are lent stay lent: the waiting thread leaves them to others. */
static void sleeps_in_a_pause(void **state)
{
	unsigned int naps;

	(void)state;
	open_region(1);
	wait_and_lend();
	mal_word_set(word_of(where_is(0, 0)), (struct mal_cpu_state){0, 1, true});
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	naps = test_kernel.naps;
	turn_clock(10 * MS);
	mal_wait_poll();
	assert_int_equal(test_kernel.naps, naps + 1);
	assert_int_equal(cpu_state(where_is(0, 0)).user, 1);
	mal_call_end();
	assert_int_equal(cpu_state(where_is(0, 0)).user, 0);
}

/* The owner of a CPU that a region gives back sleeps no longer. */
static void owner_of_a_released_cpu_wakes(void **state)
{
	(void)state;
	for (unsigned int sleeps = 0; sleeps < 2; sleeps++) {
		mal_word_set(word_of(2), (struct mal_cpu_state){1, 0, true});
		mal.cpus_own.borrowed[mal.cpus_own.borrowed_count++] = 2;
		mal.segment.cpus[2].sleepers = sleeps;
		test_kernel.wakes = 0;
		mal_cpus_release(&mal);
		assert_int_equal(cpu_state(2).user, MAL_NOBODY);
		assert_int_equal(test_kernel.wakes, sleeps);
		assert_int_equal(mal.segment.cpus[2].wake, sleeps + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(moved_to_a_rank_that_ends),
		CASE(rolled_back),
		CASE(late_spread),
		CASE(lender_wakes_when_our_threads_have_left),
		CASE(late_thread_that_binds_itself),
		CASE(late_thread_of_a_dead_owner),
		CASE(another_thread),
		CASE(late_request),
		CASE(granted_regions_end_earlier),
		CASE(short_waits_do_not_pay),
		CASE(polls_on_its_own_cpu),
		CASE(running_region_may_get_cpus),
		CASE(late_grant),
		CASE(late_grant_to_a_lender),
		CASE(late_spread_of_a_lender),
		CASE(returned_and_borrowed),
		CASE(lent_cpus_survive_another_order),
		CASE(lent_cpu_that_nobody_wants_comes_back),
		CASE(sleeps_in_a_pause),
		CASE(owner_of_a_released_cpu_wakes),
		CASE(bound_is_wrong),
		CASE(first_refuge),
		CASE(forgotten_threads_are_bound_again),
		CASE(evicted_threads_read_their_words),
		CASE(evicted_from_a_smaller_team),
		CASE(late_mask),
		CASE(nothing_is_bound),
		CASE(more_threads_than_slots),
		CASE(near_cpus_are_borrowed_first),
		CASE(one_on_each_core),
		CASE(planned_cpus_are_expected),
		CASE(nobody_would_borrow),
		CASE(the_longer_region_first),
		CASE(unused_cpus_are_there_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

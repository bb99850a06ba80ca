/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_sizing.c: whether regions share CPUs, and with how many threads, by what their runs took. */
#include "t/unit/region_rig.h"

/* COUNT runs of WHERE that take so long; rank 1 waits. */
static void take(const void *where, unsigned int count, uint64_t ticks)
{
	while (count--) {
		begin(where, NONE);
		end_after(where, ticks, true);
	}
}

/* Run WHERE: COUNT times so many runs alike come, alone and then shared, in turn. */
static void take_turns(const void *where, const unsigned int *turns, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		for (unsigned int j = 0; j < turns[i]; j++) {
			begin(where, NONE);
			assert_int_equal(mal_sizing_is_shared(&mal), i % 2);
			end_after(where, LONG, true);
		}
	}
}

/* Regions of 300 us borrow and ask for CPUs. Shorter ones do neither, and let threads wait. */
static void from_300_us(void **state)
{
	static const char brief, region;

	(void)state;
	let_borrow(1);
	*(_Atomic uint64_t *)&mal.segment.header->free_cpus = 1;
	take(&brief, 100, 290 * US);
	assert_int_equal(borrows, 0);
	assert_false(is_borrower(0));
	assert_int_equal(mal.team.linger, MAL_LINGER_USUAL);
	take(&region, 9, 310 * US);
	assert_int_equal(borrows, 8);
	assert_true(is_borrower(0));
	assert_int_equal(mal.team.size, 2);
	assert_int_equal(mal.team.linger, MAL_LINGER_SHORT);
}

/* What is typical falls and rises: it is not now above 300 us, now below. */
static void of_just_300_us(void **state)
{
	static const char region;

	(void)state;
	take(&region, 1, 310 * US);
	for (int i = 0; i < 100; i++) {
		take(&region, 1, 310 * US);
		assert_true(mal_sizing_may_share(&mal, mal.region.current));
		assert_false(mal_length_is_mostly_short());
	}
	take(&region, 1, 150 * US);
	take(&region, 10, 150 * US);
	assert_false(mal_sizing_may_share(&mal, mal.region.current));
}

/*
 * A region that was prepared as a short one is prepared anew when it lasts, though nothing else
 * changed.
 */
static void prepared_anew(void **state)
{
	static const char region;

	(void)state;
	let_borrow(1);
	let_borrow(0);
	take(&region, 20, 100 * US);
	assert_int_equal(mal.team.linger, MAL_LINGER_USUAL);
	take(&region, 20, MS);
	assert_int_equal(mal.team.linger, MAL_LINGER_SHORT);
	take(&region, 60, 100 * US);
	assert_int_equal(mal.team.linger, MAL_LINGER_USUAL);
}

/* Threads wait for 1 ms where ranks borrow, not at all where they share a CPU, else as usual. */
static void linger_follows_who_shares_cpus(void **state)
{
	static const char region;

	(void)state;
	for (int i = 0; i < 3; i++) {
		begin(&region, NONE);
		end_after(&region, MS, false);
	}
	assert_int_equal(mal.team.linger, MAL_LINGER_USUAL);
	let_borrow(1);
	take(&region, 2, MS);
	assert_int_equal(mal.team.linger, MAL_LINGER_SHORT);
	take(&region, 9, LONG);
	assert_int_equal(mal.team.size, 4);
	assert_int_equal(mal.team.linger, MAL_LINGER_NONE);
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	take(&region, 1, LONG);
	assert_int_equal(mal.team.linger, MAL_LINGER_USUAL);
	/* Of a program that chose more threads than CPUs itself they wait as in its own runtime. */
	begin(&region, 4);
	assert_true(mal.region.oversubscribed);
	assert_int_equal(mal.team.linger, MAL_LINGER_USUAL);
	end_after(&region, MS, true);
	mal.ompt_own.for_gomp = true;
	begin(&region, 4);
	assert_int_equal(mal.team.linger, MAL_LINGER_NONE);
	end_after(&region, MS, true);
}

/* More threads than CPUs from 2 ms on, where others waited for 8 % of it; twice as many at most. */
static void long_regions_get_more_threads(void **state)
{
	static const char region, shorter, unoffered;

	(void)state;
	take(&shorter, 20, 1900 * US);
	assert_int_equal(mal.team.size, 2);
	take(&region, 2, 2100 * US);
	assert_int_equal(mal.team.size, 4);
	/* But no more than the program can use. */
	mal.bounds_own.limit = 3;
	mal.prepared_own.rules = ~UINT32_C(0);
	take(&region, 1, 2100 * US);
	assert_int_equal(mal.team.size, 3);
	mal.bounds_own.limit = 0;
	for (int i = 0; i < 20; i++) {
		begin(&unoffered, NONE);
		assert_int_equal(mal.team.size, 2);
		turn_clock(LONG);
		mal.segment.ranks[1].waiting_since = mal.region.begin + LONG - LONG / 13;
		mal_region_end(&unoffered);
	}
	take(&unoffered, 1, LONG);
	begin(&unoffered, NONE);
	assert_int_equal(mal.team.size, 4);
	end(&unoffered, true);
}

/* Short regions, of which the system interrupts one run in twenty for long, hardly ever share. */
static void interrupted_short_regions_share_nothing(void **state)
{
	static const char regions[30];
	unsigned int may = 0;

	(void)state;
	let_borrow(1);
	srand(1);
	for (int i = 0; i < 30000; i++) {
		begin(&regions[i % 30], NONE);
		if (mal_sizing_is_shared(&mal) || (i >= 30 && rand() % 20 == 0))
			end_after(&regions[i % 30], 6 * LONG, true);
		else
			end_after(&regions[i % 30], MS / 20, true);
		may += mal_sizing_may_share(&mal, mal.region.current);
	}
	assert_in_range(may, 0, 300);
}

/* Large runs among small ones count, and what the first run did not do. */
static void of_several_sizes(void **state)
{
	static const uint64_t us[] = {5000, 700, 100, 20, 100, 700};
	static const char varies, few, empty;

	(void)state;
	for (int i = 0; i < 600; i++)
		take(&varies, 1, us[i % 6] * US);
	take(&varies, 1, 5 * MS);
	assert_true(mal.region.current->length.lasts);
	for (int i = 0; i < 401; i++)
		take(&few, 1, i % 4 ? 5 * US : LONG);
	assert_true(mal.region.current->length.lasts);
	take(&empty, 1, 5 * US);
	take(&empty, 8, 1000 * MS);
	assert_true(mal.region.current->length.lasts);
}

/* A rank is one of short regions by where its time went lately, not by how many there were. */
static void rank_is_short_by_its_last_time(void **state)
{
	static const char region, brief;

	(void)state;
	assert_false(mal_length_is_mostly_short());
	take(&brief, 1500, 10 * US);
	assert_true(mal_length_is_mostly_short());
	take(&region, 1, LONG);
	assert_false(mal_length_is_mostly_short());
	take(&region, 500, LONG);
	take(&brief, 200000, 10 * US);
	assert_true(mal_length_is_mostly_short());
	take(&region, 100, LONG);
	assert_false(mal_length_is_mostly_short());
}

/* Creating the threads takes long: that is not the region's work, and measures nothing. */
static void creating_threads_is_no_work(void **state)
{
	static const char region;

	(void)state;
	*(_Atomic uint64_t *)&mal.segment.header->free_cpus = 1;
	mal.sizing_own.threads = 0;
	take(&region, 1, 5 * LONG);
	assert_true(mal.region.current->work <= 0);
	take(&region, 1, LONG);
	assert_in_range(mal.region.current->work, 1.9 * LONG, 2.1 * LONG);
	assert_int_equal(borrows, 0);
	take(&region, 1, LONG);
	assert_int_equal(borrows, 1);
}

/* One run is alone at first, and one after 64 shared ones. */
static void alone_now_and_then(void **state)
{
	static const unsigned int turns[] = {1, 64, 1, 64, 1};
	static const char region;

	(void)state;
	take_turns(&region, turns, 5);
}

/* A region that becomes short while it shares ends sharing. */
static void region_that_becomes_short_ends_sharing(void **state)
{
	static const char region;

	(void)state;
	take(&region, 20, LONG);
	assert_true(mal_sizing_may_share(&mal, mal.region.current));
	take(&region, 60, MS / 20);
	assert_false(mal_sizing_may_share(&mal, mal.region.current));
}

/* What is borrowed goes back where the region may not share, and where nobody lends any more. */
static void what_may_not_be_shared_goes_back(void **state)
{
	static const char region, brief;

	(void)state;
	take(&region, 2, 1500 * US);
	mal.cpus_own.borrowed_count = 1;
	take(&region, 1, 1500 * US);
	assert_int_equal(mal.cpus.borrowed_count, 1);
	assert_true(mal_sizing_may_share(&mal, mal.region.current));
	take(&brief, 1, MS / 10);
	assert_int_equal(mal.cpus.borrowed_count, 0);
	mal.cpus_own.borrowed_count = 1;
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	run(&region, NONE, true);
	assert_int_equal(mal.cpus.borrowed_count, 0);
}

/* The program itself has two threads on one CPU: no run is alone, so none is compared. */
static void more_threads_than_cpus(void **state)
{
	static const char region;

	(void)state;
	mal.cpus_own.owned_count = 1;
	mal.proofs_own.on = true;
	take(&region, 100, MS / 20);
	assert_false(mal.region.current->length.lasts);
	take(&region, 100, LONG);
	assert_true(mal_sizing_may_share(&mal, mal.region.current));
}

/* The program was told 2 for one CPU, and 2 is what we make of it: such runs are shared. */
static void wide_as_told(void **state)
{
	static const unsigned int turns[] = {1, 64, 1};
	static const char region;

	(void)state;
	close_ranks();
	open_ranks(RANKS, 1, THREADS);
	free_one = &region;
	mal.sizing_own.threads = THREADS;
	mal.proofs_own.on = mal.team_own.reported_two = true;
	mal.team_own.base = 2;
	mal.team_own.size = 1;
	take_turns(&region, turns, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(from_300_us, open_all, close_all),
		cmocka_unit_test_setup_teardown(of_just_300_us, open_all, close_all),
		cmocka_unit_test_setup_teardown(prepared_anew, open_all, close_all),
		cmocka_unit_test_setup_teardown(linger_follows_who_shares_cpus, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(long_regions_get_more_threads, open_all, close_all),
		cmocka_unit_test_setup_teardown(interrupted_short_regions_share_nothing, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(of_several_sizes, open_all, close_all),
		cmocka_unit_test_setup_teardown(rank_is_short_by_its_last_time, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(creating_threads_is_no_work, open_all, close_all),
		cmocka_unit_test_setup_teardown(alone_now_and_then, open_all, close_all),
		cmocka_unit_test_setup_teardown(region_that_becomes_short_ends_sharing, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(what_may_not_be_shared_goes_back, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(more_threads_than_cpus, open_all, close_all),
		cmocka_unit_test_setup_teardown(wide_as_told, open_all, close_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_sharing.c: whether regions share CPUs, by how long they are. */
#include "t/unit/region_rig.h"

/* COUNT regions, as long as they are while threads wait as usual, or sleep. */
static void take_of(const void *region, uint64_t awake, uint64_t asleep)
{
	begin(region, NONE);
	turn_clock(mal.teams.linger == MAL_LINGER_USUAL ? awake : asleep);
	mal_region_end(region);
}

static void take(unsigned int count, uint64_t awake, uint64_t asleep)
{
	static const char region;

	while (count--)
		take_of(&region, awake, asleep);
}

/* How many regions run until threads wait in the other way, 0: too many. */
static unsigned int until_turned(uint64_t awake, uint64_t asleep)
{
	enum mal_linger before = mal.teams.linger;

	for (unsigned int count = 1; count < 400000; count++) {
		take(1, awake, asleep);
		if ((before == MAL_LINGER_USUAL) != (mal.teams.linger == MAL_LINGER_USUAL))
			return count;
	}
	return 0;
}

/* Nothing is shared before it is known what regions take by themselves, but for long ones. */
static void alone_at_first(void **state)
{
	static const char region, very_long;
	uint64_t ticks = 0;

	(void)state;
	let_want(1);
	mal.segment.header->free_cpus = 1;
	for (begin(&region, NONE); !borrows; begin(&region, NONE)) {
		assert_int_equal(mal.team, 2);
		assert_int_equal(mal.teams.linger, MAL_LINGER_USUAL);
		end_after(&region, MS, true);
		ticks += MS;
		assert_true(ticks < 2 * mal_s_to_ticks(TRY_S));
	}
	assert_true(ticks >= mal_s_to_ticks(TRY_S));
	end_after(&region, MS, true);
	mal_sharing_clear();
	borrows = 0;
	for (int i = 0; i < 3; i++) {
		begin(&very_long, NONE);
		turn_clock(5 * LONG);
		end(&very_long, true);
	}
	begin(&very_long, NONE);
	assert_int_equal(mal.team, 4);
	assert_int_equal(borrows, 3);
	end(&very_long, true);
}

/* A region that took long each time shares at once, unless most regions are short. */
static void long_each_time(void **state)
{
	static const char region, once_short, brief;

	(void)state;
	let_want(1);
	mal.segment.header->free_cpus = 1;
	begin(&once_short, NONE);
	end_after(&once_short, MS, true);
	for (int i = 0; i < 3; i++) {
		begin(&region, NONE);
		assert_int_equal(mal.team, 2);
		end_after(&region, 6 * MS, true);
		begin(&once_short, NONE);
		assert_int_equal(borrows, 0);
		end_after(&once_short, 6 * MS, true);
	}
	begin(&region, NONE);
	assert_int_equal(mal.team, 4);
	assert_int_equal(borrows, 1);
	end_after(&region, 6 * MS, true);
	begin(&once_short, NONE);
	assert_int_equal(mal.team, 2);
	end_after(&once_short, 6 * MS, true);
	for (int i = 0; i < 200; i++) {
		begin(&brief, NONE);
		end_after(&brief, MS / 100, true);
	}
	begin(&region, NONE);
	assert_int_equal(mal.team, 2);
	end_after(&region, 6 * MS, true);
}

/* Its threads spin for each other: it runs alone from then on, until sharing is tried. */
static void long_and_harmed(void **state)
{
	static const char region;
	unsigned int shared = 0;

	(void)state;
	let_want(1);
	for (uint64_t ticks = 0, last; ticks < mal_s_to_ticks(2); ticks += last) {
		begin(&region, NONE);
		last = mal.team > 2 ? 30 * MS : 6 * MS;
		shared += mal.team > 2;
		end_after(&region, last, true);
	}
	assert_in_range(shared, 1 + REGIONS_MIN, 2 + REGIONS_MIN);
	assert_false(mal_sharing());
}

/* Nor where lending pauses more often than a window ends. */
static void long_and_harmed_in_pauses(void **state)
{
	static const char region;
	unsigned int shared = 0;

	(void)state;
	let_want(1);
	for (int i = 0; i < 1000; i++) {
		if (i % 7 == 6)
			mal.segment.header->rules ^= MAL_RULE_LEND | MAL_RULE_GROW;
		begin(&region, NONE);
		shared += mal.team > 2;
		end_after(&region, mal.team > 2 ? 30 * MS : 6 * MS, true);
	}
	assert_int_equal(shared, 1);
}

/* Once sharing was tried, what was kept holds for long regions too. */
static void long_after_harm(void **state)
{
	static const char region;

	(void)state;
	let_want(1);
	until_turned(2 * MS, 8 * MS);
	until_turned(2 * MS, 8 * MS);
	for (int i = 0; i < 6; i++) {
		begin(&region, NONE);
		assert_int_equal(mal.team, 2);
		end_after(&region, 6 * MS, true);
	}
}

/*
 * One that took very long in its first run, and on CPUs of others takes as long in sum: a run alone
 * shows that it is short.
 */
static void long_by_others(void **state)
{
	static const char region;
	unsigned int runs = 0;

	(void)state;
	let_want(1);
	begin(&region, NONE);
	turn_clock(5 * LONG);
	end(&region, true);
	for (bool alone = false; !alone && runs < 20; runs++) {
		begin(&region, NONE);
		alone = !mal.stacked;
		turn_clock(alone ? 0 : 5 * LONG);
		end(&region, true);
	}
	assert_int_equal(runs, 9);
}

/* The first region takes long, as it creates the threads: that is not taken for its work. */
static void creates_threads(void **state)
{
	static const char region, other;

	(void)state;
	let_want(1);
	mal.segment.header->free_cpus = 1;
	mal.region.threads = 0;
	begin(&region, NONE);
	turn_clock(5 * LONG);
	end(&region, true);
	run(&region, NONE, true);
	begin(&region, NONE);
	assert_int_equal(mal.team, 2);
	assert_int_equal(borrows, 0);
	end(&region, true);
	/* Nor for ever, where the first run of another took long by chance. */
	begin(&other, NONE);
	turn_clock(5 * LONG);
	end(&other, true);
	begin(&other, NONE);
	assert_int_equal(mal.team, 4);
	end_after(&other, 4 * MS, true);
	begin(&other, NONE);
	assert_int_equal(mal.team, 2);
	end(&other, true);
}

/* Where nothing is lent, threads wait as without us. */
static void of_no_lending(void **state)
{
	static const char region;

	(void)state;
	let_want(1);
	for (int i = 0; i < ALONE; i++)
		run(&region, NONE, true);
	run(&region, NONE, true);
	assert_int_equal(mal.teams.linger, MAL_LINGER_NONE);
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	run(&region, NONE, true);
	assert_int_equal(mal.teams.linger, MAL_LINGER_USUAL);
}

/* Threads that wait sleep where others borrow, unless regions take longer then. */
static void lingers(void **state)
{
	unsigned int awake = 0, asleep, last;

	(void)state;
	let_want(1);
	/* What ran before the first call says nothing. */
	mal_sharing_learn(1, &(struct mal_runs){10 * REGIONS, 0, 0}, true);
	assert_false(mal_sharing());
	mal_sharing_clear();
	/* It is tried, does harm, and is tried again, ever less often. */
	for (int i = 0; i < 4; i++) {
		last = awake;
		awake = until_turned(2 * MS, 8 * MS);
		assert_in_range(awake, i ? 3 * last : REGIONS_MIN, 100000);
		asleep = until_turned(2 * MS, 8 * MS);
		/* It has failed as soon as it takes what REGIONS would take by themselves. */
		assert_in_range(asleep, REGIONS_MIN, HARM * REGIONS * 2 / 8 + 2);
	}
	/* It does none any more: the other way is what is tried now and then, ever less often. */
	assert_in_range(until_turned(2 * MS, 2 * MS), 1, 400000);
	asleep = REGIONS;
	for (int i = 0; i < 3; i++) {
		last = asleep;
		asleep = until_turned(2 * MS, 2 * MS);
		assert_true(asleep > last);
		assert_in_range(until_turned(2 * MS, 2 * MS), REGIONS_MIN, REGIONS + 2);
	}
}

/* Short regions share nothing, and CPUs of others are of no use to them. */
static void too_short(void **state)
{
	(void)state;
	let_want(1);
	assert_true(mal_sharing_is_of_no_use());
	take(40 * REGIONS, MS / 10, MS / 10);
	assert_false(mal_sharing());
	assert_true(mal_sharing_is_of_no_use());
	take(40 * REGIONS, MS / 2, MS / 2);
	assert_true(mal_sharing());
	assert_false(mal_sharing_is_of_no_use());
}

/* Policies ask how long regions take where nothing is lent, too: to move CPUs, or to predict. */
static void lends_nothing(void **state)
{
	(void)state;
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	take(ALONE, 25 * MS, 25 * MS);
	assert_false(mal_sharing_is_of_no_use());
	take(40 * REGIONS, MS / 10, MS / 10);
	assert_true(mal_sharing_is_of_no_use());
	assert_false(mal_sharing());
	assert_false(wants);
}

/* At the start they take longer. */
static void too_short_after_all(void **state)
{
	(void)state;
	let_want(1);
	take(300, 4 * MS / 5, 10 * MS);
	take(40 * REGIONS, MS / 10, 10 * MS);
	assert_true(mal_sharing_is_of_no_use());
	assert_false(mal_sharing());
}

/* Those that read input, before those of the time loop, do not keep that from sharing. */
static void short_setup(void **state)
{
	static const char setup[10];

	(void)state;
	let_want(1);
	for (int i = 0; i < 1500; i++)
		take_of(&setup[i % 10], MS / 100, MS / 100);
	assert_true(mal_sharing_is_of_no_use());
	take(ALONE + 1, 20 * MS, 20 * MS);
	assert_true(mal_sharing());
}

/* One long region a phase tells as much in the time of a window. */
static void few_and_long(void **state)
{
	(void)state;
	take(UNKNOWN_RUNS + 1, 100 * MS, 100 * MS);
	assert_false(mal_sharing_is_of_no_use());
}

/* What is borrowed goes back where sharing ended. */
static void gives_back(void **state)
{
	static const char region;

	(void)state;
	let_want(1);
	take(2 * ALONE, 25 * MS, 25 * MS);
	assert_true(mal_sharing());
	mal.borrowed_count = 1;
	begin(&region, NONE);
	end(&region, true);
	assert_int_equal(mal.borrowed_count, 1);
	mal_sharing_clear();
	begin(&region, NONE);
	assert_int_equal(mal.borrowed_count, 0);
	end(&region, true);
}

/* Nor is anything kept where nobody lends any more. */
static void gives_back_without_rule(void **state)
{
	static const char region;

	(void)state;
	let_want(1);
	take(2 * ALONE, 25 * MS, 25 * MS);
	mal.borrowed_count = 1;
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	begin(&region, NONE);
	assert_int_equal(mal.borrowed_count, 0);
	end(&region, true);
}

/*
 * Ranks that harm each other see it when nobody lends: regions that were kept sharing take far less
 * then.
 */
static void alone_at_once(void **state)
{
	(void)state;
	let_want(1);
	take(ALONE, 25 * MS, 25 * MS);
	take(2 * ALONE, 25 * MS, 25 * MS);
	assert_true(mal_sharing());
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	take(ALONE + 1, 20 * MS, 20 * MS);
	assert_true(mal_sharing());
	take(40 * REGIONS, MS / 10, MS / 10);
	assert_false(mal_sharing());
	mal.segment.header->rules |= MAL_RULE_LEND | MAL_RULE_GROW;
	take(ALONE, MS / 10, MS / 10);
	assert_false(mal_sharing());
}

/* It takes so long that few of them end before nobody lends: in a trial, and later. */
static void few_in_a_crawl(void **state)
{
	(void)state;
	let_want(1);
	for (unsigned int windows = 1; windows < 4; windows += 2) {
		mal_sharing_clear();
		take(windows * ALONE, 25 * MS, 25 * MS);
		assert_true(mal_sharing());
		take(3, 25 * MS, 1000 * MS);
		assert_true(mal_sharing());
		mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
		take(ALONE + 1, 25 * MS, 25 * MS);
		assert_false(mal_sharing());
		mal.segment.header->rules |= MAL_RULE_LEND | MAL_RULE_GROW;
	}
}

/* A trial that has hardly begun does not end for what an older one took. */
static void not_for_an_older_trial(void **state)
{
	(void)state;
	let_want(1);
	assert_int_not_equal(until_turned(25 * MS, 100 * MS), 0);
	assert_int_not_equal(until_turned(25 * MS, 100 * MS), 0);
	assert_false(mal_sharing());
	assert_int_not_equal(until_turned(25 * MS, 25 * MS), 0);
	assert_true(mal_sharing());
	mal.segment.header->rules &= ~(uint32_t)(MAL_RULE_LEND | MAL_RULE_GROW);
	take(2 * ALONE, 25 * MS, 25 * MS);
	assert_true(mal_sharing());
}

/* The first regions take long for another reason: sharing was kept, and is soon left. */
static void slow_start(void **state)
{
	(void)state;
	let_want(1);
	take(ALONE, 25 * MS, 25 * MS);
	take(REGIONS, MS, MS);
	assert_true(mal_sharing());
	/* As long as this takes to be seen, and to be tried. */
	take(REGIONS, MS / 10, 10 * MS);
	take(2 * REGIONS, MS / 10, 10 * MS);
	assert_false(mal_sharing());
	/* It stays so but for a short trial now and then. */
	take(20 * REGIONS, MS / 10, 10 * MS);
	assert_false(mal_sharing());
}

/* A run of WHERE, during all of which rank 1 waited. */
static void take_waited_for(const void *where, uint64_t ticks)
{
	begin(where, NONE);
	turn_clock(ticks);
	mal.segment.ranks[1].waiting_since = mal.region_begin;
	mal_region_end(where);
}

/* Short regions; the system interrupts some runs for long: nobody shares or lends for them. */
static void interrupted(void **state)
{
	static const char regions[30];

	(void)state;
	let_want(1);
	srand(1);
	for (int i = 0; i < 30000; i++) {
		take_waited_for(&regions[i % 30], rand() % 20 || i < 30 ? MS / 20 : 6 * LONG);
		assert_int_equal(mal.team, 2);
		assert_false(mal_sharing());
		assert_false(wants);
	}
}

/* One run in four takes nearly all of the time. */
static void few_large(void **state)
{
	static const char region;

	(void)state;
	let_want(1);
	for (int i = 0; i < 400 && !mal_sharing(); i++)
		take_waited_for(&region, i % 4 ? MS / 200 : 20 * MS);
	assert_true(mal_sharing());
}

/* Each region runs once or twice, or there are too many to remember. */
static void never_known(void **state)
{
	static const char regions[400];

	(void)state;
	for (int i = 0; i < 10; i++)
		take_waited_for(&regions[i], 1000 * MS);
	assert_false(mal_sharing_is_of_no_use());
	mal_sharing_clear();
	mal_length_clear();
	let_want(1);
	for (int i = 0; i < 200; i++)
		take_waited_for(&regions[i % 400], 20 * MS);
	assert_true(mal_sharing());
}

/* Regions that appear while others share, and are harmed by that, end it though they are new. */
static void harmed_and_new(void **state)
{
	static const char regions[121];

	(void)state;
	let_want(1);
	for (int i = 0; i < 60; i++)
		take_waited_for(&regions[120], 20 * MS);
	assert_true(mal_sharing());
	for (int i = 0; i < 200; i++) {
		begin(&regions[i % 120], NONE);
		turn_clock(i < 120 ? 5 * MS : mal.stacked ? 100 * MS : MS / 20);
		mal.segment.ranks[1].waiting_since = mal.region_begin;
		mal_region_end(&regions[i % 120]);
	}
	assert_false(mal_sharing());
}

/* The first run had nothing to do. */
static void empty_at_first(void **state)
{
	static const char region;

	(void)state;
	take_waited_for(&region, MS / 200);
	for (int i = 0; i < 8; i++)
		take_waited_for(&region, 1000 * MS);
	assert_false(mal_sharing_is_of_no_use());
}

/* The program itself chose two threads for one CPU: what they take is what the region takes. */
static void more_threads_than_cpus(void **state)
{
	static const char region;

	(void)state;
	mal.own_count = 1;
	mal.proofs.on = true;
	for (int i = 0; i < 8; i++)
		take_waited_for(&region, MS / 20);
	for (int i = 0; i < 100; i++)
		take_waited_for(&region, 20 * MS);
	assert_false(mal_sharing_is_of_no_use());
}

/* Large runs of a region among small ones share as if all were large. */
static void of_several_sizes(void **state)
{
	static const uint64_t us[] = {5000, 700, 100, 20, 100, 700};
	static const char region;

	(void)state;
	let_want(1);
	for (int i = 0; i < 600 && !mal_sharing(); i++)
		take_of(&region, us[i % 6] * MS / 1000, us[i % 6] * MS / 1000);
	assert_true(mal_sharing());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(alone_at_first, open_all, close_all),
		cmocka_unit_test_setup_teardown(long_each_time, open_all, close_all),
		cmocka_unit_test_setup_teardown(long_and_harmed, open_all, close_all),
		cmocka_unit_test_setup_teardown(long_and_harmed_in_pauses, open_all, close_all),
		cmocka_unit_test_setup_teardown(long_after_harm, open_all, close_all),
		cmocka_unit_test_setup_teardown(long_by_others, open_all, close_all),
		cmocka_unit_test_setup_teardown(creates_threads, open_all, close_all),
		cmocka_unit_test_setup_teardown(of_no_lending, open_all, close_all),
		cmocka_unit_test_setup_teardown(lingers, open_all, close_all),
		cmocka_unit_test_setup_teardown(too_short, open_all, close_all),
		cmocka_unit_test_setup_teardown(lends_nothing, open_all, close_all),
		cmocka_unit_test_setup_teardown(too_short_after_all, open_all, close_all),
		cmocka_unit_test_setup_teardown(short_setup, open_all, close_all),
		cmocka_unit_test_setup_teardown(few_and_long, open_all, close_all),
		cmocka_unit_test_setup_teardown(gives_back, open_all, close_all),
		cmocka_unit_test_setup_teardown(gives_back_without_rule, open_all, close_all),
		cmocka_unit_test_setup_teardown(alone_at_once, open_all, close_all),
		cmocka_unit_test_setup_teardown(few_in_a_crawl, open_all, close_all),
		cmocka_unit_test_setup_teardown(not_for_an_older_trial, open_all, close_all),
		cmocka_unit_test_setup_teardown(slow_start, open_all, close_all),
		cmocka_unit_test_setup_teardown(interrupted, open_all, close_all),
		cmocka_unit_test_setup_teardown(few_large, open_all, close_all),
		cmocka_unit_test_setup_teardown(never_known, open_all, close_all),
		cmocka_unit_test_setup_teardown(harmed_and_new, open_all, close_all),
		cmocka_unit_test_setup_teardown(empty_at_first, open_all, close_all),
		cmocka_unit_test_setup_teardown(more_threads_than_cpus, open_all, close_all),
		cmocka_unit_test_setup_teardown(of_several_sizes, open_all, close_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

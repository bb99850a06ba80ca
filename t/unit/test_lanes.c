/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_lanes.c: on which CPUs threads of a rank were busy. */
#include "t/unit/rank_fixture.h"

#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/lanes.h"

/* Two ranks with two CPUs each; we are rank 0. */
static int set_up(void **state)
{
	(void)state;
	open_ranks(2, 2, 8);
	mal_lanes_open(&mal);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_ranks();
	return 0;
}

/* For how long we were busy on CPU, in ms, as the controller reads it. */
static unsigned int on(unsigned int cpu)
{
	const struct mal_lanes *lanes = mal_lanes_of(&mal.segment, 0);

	assert_int_equal(lanes->used[0] >> cpu & 1, lanes->busy[cpu] != 0);
	return (unsigned int)(lanes->busy[cpu] / MS);
}

static void works(unsigned int thread, unsigned int ms)
{
	thread_of(0, thread)->busy += ms * MS;
}

static void each_thread_counts_where_it_is(void **state)
{
	(void)state;
	mal_bind_team(&mal, 2);
	turn_clock(10 * MS);
	works(0, 9);
	works(1, 4);
	mal.slot->count.serial += 3 * MS;
	mal_lanes_sample(&mal);
	mal_lanes_sample(&mal);
	assert_int_equal(on(0), 12);
	assert_int_equal(on(1), 4);
	works(1, 5);
	mal_lanes_sample(&mal);
	assert_int_equal(on(1), 9);
	assert_int_equal(on(2), 0);
}

/* Nobody binds them: the rank's CPUs one after the other. */
static void threads_without_places_count_in_order(void **state)
{
	(void)state;
	works(0, 5);
	works(1, 2);
	mal_lanes_sample(&mal);
	assert_int_equal(on(0), 5);
	assert_int_equal(on(1), 2);
	/* Outside regions it is where the kernel has it, if that is the rank's. */
	test_kernel.at[1] = 1;
	mal.slot->count.serial += 8 * MS;
	mal_lanes_sample(&mal);
	assert_int_equal(on(1), 10);
	test_kernel.at[1] = 3;
	mal.slot->count.serial += 8 * MS;
	mal_lanes_sample(&mal);
	assert_int_equal(on(0), 13);
	assert_int_equal(on(3), 0);
}

/* More than CPUs: the kernel divides the time, so that no CPU is busier than others. */
static void more_threads_without_places_are_on_all_cpus(void **state)
{
	(void)state;
	for (unsigned int thread = 0; thread < 3; thread++) {
		thread_of(0, thread)->tid = 100 + (int)thread;
		works(thread, 4);
	}
	mal_lanes_sample(&mal);
	assert_int_equal(on(0), 6);
	assert_int_equal(on(1), 6);
}

/* The rank's own change of a place ends what counts on the one before. */
static void borrowed_cpus_are_told_apart(void **state)
{
	(void)state;
	mal_bind_team(&mal, 2);
	works(1, 5);
	mal_word_set(word_of(3), (struct mal_cpu_state){1, 0, true});
	mal.cpus_own.borrowed[mal.cpus_own.borrowed_count++] = 3;
	mal_bind_outdate(&mal);
	mal_bind_team(&mal, 3);
	put_thread(0, 2, 3);
	works(2, 7);
	mal_bind_send_home(&mal, 3);
	mal_lanes_sample(&mal);
	assert_int_equal(on(1), 5);
	assert_int_equal(on(3), 7);
}

/* Another process changed it in the middle: both CPUs have their part of the time. */
static void changes_by_others_divide_the_time(void **state)
{
	(void)state;
	mal_bind_team(&mal, 3);
	mal_lanes_sample(&mal);
	put_thread(0, 1, 1);
	put_thread(0, 2, 1);
	mal.slot->team = 3;
	mal_lanes_thread(&mal, 2);
	works(2, 1);
	mal_lanes_thread(&mal, 2);
	assert_int_equal(on(1), 1);
	turn_clock(30 * MS);
	mal_word_set(word_of(3), (struct mal_cpu_state){1, 0, true});
	assert_int_equal(mal_bind_spread(&mal, 0, 3), MAL_SPREAD_DONE);
	turn_clock(90 * MS);
	works(2, 80);
	mal_lanes_sample(&mal);
	assert_in_range(on(1), 20, 21);
	assert_in_range(on(3), 59, 60);
	works(2, 8);
	mal_lanes_sample(&mal);
	assert_in_range(on(3), 67, 68);
}

static void threads_without_slots_are_on_all_cpus(void **state)
{
	(void)state;
	mal.work_own.busy += 10 * MS;
	mal.work_own.not_serial += 2 * MS;
	mal.slot->count.serial += 3 * MS;
	mal_lanes_sample(&mal);
	assert_int_equal(on(0), 6);
	assert_int_equal(on(1), 5);
}

/* What an earlier program of the task said is in them. */
static void an_earlier_program_counts_once(void **state)
{
	(void)state;
	mal.slot->count.serial += 3 * MS;
	mal_lanes_open(&mal);
	mal.slot->count.serial += 4 * MS;
	mal_lanes_sample(&mal);
	assert_int_equal(on(0), 4);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(each_thread_counts_where_it_is),
		CASE(threads_without_places_count_in_order),
		CASE(more_threads_without_places_are_on_all_cpus),
		CASE(borrowed_cpus_are_told_apart),
		CASE(changes_by_others_divide_the_time),
		CASE(threads_without_slots_are_on_all_cpus),
		CASE(an_earlier_program_counts_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

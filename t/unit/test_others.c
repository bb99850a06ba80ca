/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_others.c: how much of the ranks' CPUs other processes use. */
#include "t/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/controller/load/plausibility.h"
#include "libmalleable/controller/load/run_queue.h"

#define NEAR 1e-6

/* For how many ticks CPUS were busy, as a kernel with three of them has it. */
static double busy_ticks(const char *list)
{
	static char text[] = "cpu  6 6 6 600 6 6 6 6 0 0\n"
			     "cpu0 1 2 4 100 200 8 16 32 64 128\n"
			     "cpu2 1000 0 0 300 0 0 0 0 0 0\n"
			     "cpu11 0 0 5000 200 0 0 0 0 0 0\n"
			     "intr 1 2 3\n"
			     "cpu12 0 0 9000 200 0 0 0 0 0 0\n";
	FILE *stat = fmemopen(text, strlen(text), "r");
	struct mal_cpumask cpus;
	struct mal_error err;
	double busy;

	assert_int_equal(mal_cpumask_parse(list, &cpus, &err), 0);
	busy = mal_others_busy(stat, &cpus).all_s;
	fclose(stat);
	return busy * (double)sysconf(_SC_CLK_TCK);
}

static void read_from_the_kernel(void **state)
{
	(void)state;
	/* Not the line of all. */
	assert_float_equal(busy_ticks("6"), 0, NEAR);
	/* Not idle, iowait and interrupts; guests are in user. */
	assert_float_equal(busy_ticks("0"), 1 + 2 + 4 + 32, NEAR);
	assert_float_equal(busy_ticks("2,11"), 6000, NEAR);
	assert_float_equal(busy_ticks("0-1"), 0, NEAR);
	assert_float_equal(busy_ticks("0,12"), 0, NEAR);
}

static struct mal_busy seconds(double busy_s)
{
	return (struct mal_busy){.all_s = busy_s};
}

/* Four CPUs for ten seconds, of which others have ten. */
static void time_of_others_is_counted(void **state)
{
	struct mal_others others = {0};

	(void)state;
	/* What the ranks used before it began is not of that time. */
	assert_true(mal_others_add(&others, 500, 100));
	mal_others_count(&others, seconds(1000), 4, 100);
	assert_true(isnan(mal_others_part(&others)));
	/* Soon at first, then after a quarter of the time that was counted, at last each second. */
	assert_false(mal_others_add(&others, 0.15, 100.05));
	assert_true(mal_others_add(&others, 0.153, 100.101));
	mal_others_count(&others, seconds(1000.404), 4, 100.101);
	assert_true(mal_others_add(&others, 2.697, 101));
	mal_others_count(&others, seconds(1004), 4, 101);
	assert_false(mal_others_add(&others, 0, 101.2));
	assert_true(mal_others_add(&others, 3, 101.3));
	for (int second = 2; second <= 10; second++) {
		assert_int_equal(mal_others_add(&others, second > 2 ? 3 : 0, 100 + second), true);
		mal_others_count(&others, seconds(1000 + 4 * second), 4, 100 + second);
	}
	assert_false(mal_others_add(&others, 0, 110.9));
	assert_float_equal(mal_others_part(&others), 0.25, NEAR);
}

/* What the ranks used is not known where one came: that time is not counted. */
static void time_with_newcomers_is_not_counted(void **state)
{
	static struct mal_controller controller;
	struct mal_others others = {0};

	(void)state;
	mal_others_add(&others, 0, 100);
	mal_others_count(&others, seconds(1000), 2, 100);
	mal_others_add(&others, 2, 101);
	controller.plausibility_own.others = others;
	mal_plausibility_skip(&controller);
	others = controller.plausibility.others;
	assert_true(mal_others_add(&others, 7, 110));
	mal_others_count(&others, seconds(1020), 2, 110);
	mal_others_add(&others, 2, 111);
	mal_others_count(&others, seconds(1022), 2, 111);
	assert_float_equal(mal_others_part(&others), 0, NEAR);
	/* Nor is time in which the CPUs cannot be read, which is not tried all the time. */
	assert_true(mal_others_add(&others, 0, 112));
	mal_others_count(&others, seconds(0), 2, 112);
	assert_false(mal_others_add(&others, 0, 112.2));
	mal_others_add(&others, 0, 113);
	mal_others_count(&others, seconds(1024), 2, 113);
	assert_float_equal(mal_others_part(&others), 0, NEAR);
	mal_others_add(&others, 1, 114);
	mal_others_count(&others, seconds(1026), 2, 114);
	assert_float_equal(mal_others_part(&others), 0.25, NEAR);
	/* It is from 0 to 1. */
	mal_others_count(&others, seconds(2026), 2, 115);
	assert_float_equal(mal_others_part(&others), 1, NEAR);
	mal_others_add(&others, 2000, 116);
	mal_others_count(&others, seconds(2027), 2, 116);
	assert_float_equal(mal_others_part(&others), 0, NEAR);
}

/* Of two CPUs that were counted for ten seconds, others had USED and the host STOLEN seconds. */
static double taken(double used_s, double stolen_s, double waited)
{
	const struct mal_others others = {
		.counted_s = 10, .all_s = 20, .others_s = used_s, .stolen_s = stolen_s};

	return mal_others_taken(&others, waited, 2);
}

/* Of a thread's time others took what it waited, and no more than they used. */
static void others_took_no_more_than_the_wait(void **state)
{
	(void)state;
	assert_float_equal(taken(10, 0, 0.4), 0.4, NEAR);
	/* Threads of the step waited for each other, or others used what nobody else wanted. */
	assert_float_equal(taken(0, 0, 0.4), 0, NEAR);
	assert_float_equal(taken(10, 0, 0), 0, NEAR);
	/* Two hundredths of a second of two CPUs may be rounding. */
	assert_float_equal(taken(2.02, 0, 0.4), 0.2, NEAR);
	/* No run queue shows what a virtual machine's host took. */
	assert_float_equal(taken(10, 6, 0.1), 0.4, NEAR);
	assert_float_equal(taken(30, 0, 3), 1, NEAR);
	assert_true(isnan(mal_others_taken(&(struct mal_others){0}, 0.4, 2)));
}

/* Whether others took much of a thread that WAITED: in 1 s they used USED_S of 128 CPUs. */
static bool much_of_many(double used_s, double waited)
{
	const struct mal_others others = {.counted_s = 1, .all_s = 128, .others_s = used_s};

	return mal_others_are_many((struct mal_others_parts){
		mal_others_part(&others), mal_others_taken(&others, waited, 128)});
}

/* On a large node too others have to take a tenth of one rank's time, and no more than that. */
static void took_time_of_one_of_many(void **state)
{
	(void)state;
	/* The loop on one of the CPUs, as its rank and as any other sees it. */
	assert_true(much_of_many(1, 0.5));
	assert_false(much_of_many(1, 0));
	/* Two parts in a hundred of each CPU. */
	assert_false(much_of_many(128 * 0.02, 0.02));
	/* Threads of the step that wait for each other, beside what the kernel rounds. */
	assert_false(much_of_many(0.15, 0.5));
}

/* Reading what the kernel knows of our threads leaves nothing open. */
static void waits_are_read_and_closed(void **state)
{
	unsigned int before = open_descriptors();
	struct mal_waits waits = {0};
	double part;

	(void)state;
	assert_true(isnan(mal_waits_longest(&waits, getpid(), 100)));
	for (int second = 101; second < 104; second++) {
		part = mal_waits_longest(&waits, getpid(), second);
		assert_true(isnan(part) || (part >= 0 && part < 1e6));
	}
	mal_waits_close(&waits);
	assert_true(closed_all(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_took_no_more_than_the_wait),
		cmocka_unit_test(took_time_of_one_of_many),
		cmocka_unit_test(read_from_the_kernel),
		cmocka_unit_test(waits_are_read_and_closed),
		cmocka_unit_test(time_of_others_is_counted),
		cmocka_unit_test(time_with_newcomers_is_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_others.c: how much of the ranks' CPUs other processes use. */
#include "t/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/controller/load/plausibility.h"

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
	busy = mal_others_busy(stat, &cpus);
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

/* Four CPUs for ten seconds, of which others have ten. */
static void counted(void **state)
{
	struct mal_others others = {0};

	(void)state;
	/* What the ranks used before it began is not of that time. */
	assert_true(mal_others_add(&others, 500, 100));
	mal_others_count(&others, 1000, 4, 100);
	assert_true(isnan(mal_others_part(&others)));
	for (int half = 1; half <= 20; half++) {
		double now_s = 100 + half * 0.5;

		/* Every other time is too early. */
		assert_int_equal(mal_others_add(&others, 1, now_s), half % 2 == 0);
		if (half % 2 == 0)
			mal_others_count(&others, 1000 + half * 1.5, 4, now_s);
	}
	assert_float_equal(mal_others_part(&others), 0.25, NEAR);
}

/* What the ranks used is not known where one came: that time is not counted. */
static void skipped(void **state)
{
	struct mal_others others = {0};

	(void)state;
	mal_others_add(&others, 0, 100);
	mal_others_count(&others, 1000, 2, 100);
	mal_others_add(&others, 2, 101);
	mal_others_skip(&others);
	assert_true(mal_others_add(&others, 7, 110));
	mal_others_count(&others, 1020, 2, 110);
	mal_others_add(&others, 2, 111);
	mal_others_count(&others, 1022, 2, 111);
	assert_float_equal(mal_others_part(&others), 0, NEAR);
	/* Nor is time in which the CPUs cannot be read, which is tried once a second. */
	assert_true(mal_others_add(&others, 0, 112));
	mal_others_count(&others, 0, 2, 112);
	assert_false(mal_others_add(&others, 0, 112.5));
	mal_others_add(&others, 0, 113);
	mal_others_count(&others, 1024, 2, 113);
	assert_float_equal(mal_others_part(&others), 0, NEAR);
	mal_others_add(&others, 1, 114);
	mal_others_count(&others, 1026, 2, 114);
	assert_float_equal(mal_others_part(&others), 0.25, NEAR);
	/* It is from 0 to 1. */
	mal_others_count(&others, 2026, 2, 115);
	assert_float_equal(mal_others_part(&others), 1, NEAR);
	mal_others_add(&others, 2000, 116);
	mal_others_count(&others, 2027, 2, 116);
	assert_float_equal(mal_others_part(&others), 0, NEAR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_from_the_kernel),
		cmocka_unit_test(counted),
		cmocka_unit_test(skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

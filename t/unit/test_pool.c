/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_pool.c: CPUs for several steps that have a pool of them. */
#include "policies/pool.h"
#include "t/unit/unit.h"

static struct mal_pool_rank rank_of(unsigned int step, unsigned int cpus, double work, double serial)
{
	return (struct mal_pool_rank){.step = step, .cpus = cpus, .work = work, .serial = serial};
}

/* Two steps that are busy all the time: nobody takes from the other. */
static void busy_steps_keep_theirs(void **state)
{
	struct mal_pool_rank ranks[] = {rank_of(0, 4, 4, 0), rank_of(0, 4, 4, 0), rank_of(1, 7, 6.9, 0),
					rank_of(1, 1, 0.9, 0)};
	unsigned int wanted[2];

	(void)state;
	assert_true(mal_pool_divide(ranks, 4, 2, wanted) < 0.05);
}

/* One waits for the other, as coupled codes do: work 4 to 1. */
static void coupled_steps_meet(void **state)
{
	struct mal_pool_rank ranks[] = {rank_of(0, 4, 4, 0), rank_of(1, 4, 1, 0)};
	unsigned int wanted[2];

	(void)state;
	assert_true(mal_pool_divide(ranks, 2, 2, wanted) > 0.3);
	assert_int_equal(wanted[0], 6);
	assert_int_equal(wanted[1], 2);
}

/* A serial rank holds its step up; what the others of that step do not need helps the other step all the same. */
static void a_serial_rank_is_not_helped(void **state)
{
	struct mal_pool_rank ranks[] = {rank_of(0, 4, 4, 0), rank_of(0, 4, 4, 0), rank_of(1, 4, 0.01, 0.99),
					rank_of(1, 4, 0.2, 0)};
	unsigned int wanted[2];

	(void)state;
	assert_true(mal_pool_divide(ranks, 4, 2, wanted) > 0.3);
	assert_int_equal(wanted[0], 14);
	assert_int_equal(wanted[1], 2);
}

static void who_can_use_no_more_gets_no_more(void **state)
{
	struct mal_pool_rank ranks[] = {rank_of(0, 4, 4, 0), rank_of(1, 4, 1, 0)};
	unsigned int wanted[2];

	(void)state;
	ranks[0].most = 5;
	assert_true(mal_pool_divide(ranks, 2, 2, wanted) > 0.1);
	assert_int_equal(wanted[0], 5);
	assert_int_equal(wanted[1], 3);
	ranks[1].most = 2;
	assert_true(mal_pool_divide(ranks, 2, 2, wanted) == 0);
}

static void every_rank_has_one(void **state)
{
	struct mal_pool_rank ranks[] = {rank_of(0, 1, 1, 0), rank_of(1, 1, 0, 0)};
	unsigned int wanted[2];

	(void)state;
	assert_true(mal_pool_divide(ranks, 2, 2, wanted) == 0);
	assert_true(mal_pool_divide(ranks, 0, 2, wanted) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy_steps_keep_theirs),      cmocka_unit_test(coupled_steps_meet),
		cmocka_unit_test(a_serial_rank_is_not_helped), cmocka_unit_test(who_can_use_no_more_gets_no_more),
		cmocka_unit_test(every_rank_has_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

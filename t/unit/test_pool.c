/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_pool.c: divide a pool of CPUs among several steps. */
#include "policies/model/pool_division.h"

#include "policies/interface/limits.h"
#include "t/unit/unit.h"

static struct mal_pool_rank rank_of(unsigned int step, unsigned int cpus, double work,
				    double serial)
{
	return (struct mal_pool_rank){.step = step, .cpus = cpus, .work = work, .serial = serial};
}

/* Two steps that are always busy take nothing from each other. */
static void busy_steps_keep_theirs(void **state)
{
	struct mal_pool_rank ranks[] = {rank_of(0, 4, 4, 0), rank_of(0, 4, 4, 0),
					rank_of(1, 7, 6.9, 0), rank_of(1, 1, 0.9, 0)};
	unsigned int wanted[2];

	(void)state;
	assert_true(mal_pool_divide(ranks, 4, 2, wanted) < 0.05);
}

/* One step waits for the other, as coupled codes do: work 4 to 1. */
static void coupled_steps_meet(void **state)
{
	struct mal_pool_rank ranks[] = {rank_of(0, 4, 4, 0), rank_of(1, 4, 1, 0)};
	unsigned int wanted[2];

	(void)state;
	assert_true(mal_pool_divide(ranks, 2, 2, wanted) > 0.3);
	assert_int_equal(wanted[0], 6);
	assert_int_equal(wanted[1], 2);
}

/*
 * A serial rank holds its step up: CPUs that the step's other ranks do not need still help the
 * other step.
 */
static void a_serial_rank_is_not_helped(void **state)
{
	struct mal_pool_rank ranks[] = {rank_of(0, 4, 4, 0), rank_of(0, 4, 4, 0),
					rank_of(1, 4, 0.01, 0.99), rank_of(1, 4, 0.2, 0)};
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
	ranks[0].max = 5;
	assert_true(mal_pool_divide(ranks, 2, 2, wanted) > 0.1);
	assert_int_equal(wanted[0], 5);
	assert_int_equal(wanted[1], 3);
	ranks[1].max = 2;
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

/*
 * A serial rank that would get fewer CPUs than it has, and be the busiest of all for it: all
 * stays as it is.
 */
static void nobody_becomes_busier_than_the_busiest(void **state)
{
	struct mal_pool_rank ranks[] = {rank_of(0, 1, 0.5, 0), rank_of(1, 8, 0.1, 0.98)};
	unsigned int wanted[2];

	(void)state;
	assert_true(mal_pool_divide(ranks, 2, 2, wanted) == 0);
}

static void what_cannot_be_shared_out_stays(void **state)
{
	static struct mal_pool_rank ranks[MAL_MAX_RANKS + 1];
	unsigned int wanted[2];

	(void)state;
	/* Two ranks and one CPU. */
	ranks[0] = rank_of(0, 1, 1, 0);
	ranks[1] = rank_of(1, 0, 1, 0);
	assert_true(mal_pool_divide(ranks, 2, 2, wanted) == 0);
	assert_true(mal_pool_divide(ranks, MAL_MAX_RANKS + 1, 2, wanted) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy_steps_keep_theirs),
		cmocka_unit_test(coupled_steps_meet),
		cmocka_unit_test(a_serial_rank_is_not_helped),
		cmocka_unit_test(who_can_use_no_more_gets_no_more),
		cmocka_unit_test(every_rank_has_one),
		cmocka_unit_test(nobody_becomes_busier_than_the_busiest),
		cmocka_unit_test(what_cannot_be_shared_out_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

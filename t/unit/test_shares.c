/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_shares.c: divide CPUs among the steps of several jobs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libmalleable/agent/shares.h"
#include "t/unit/unit.h"

static struct mal_cpumask range(unsigned int first, unsigned int last)
{
	struct mal_cpumask mask = {{0}};

	for (unsigned int cpu = first; cpu <= last; cpu++)
		mal_cpumask_add(&mask, cpu);
	return mask;
}

static struct mal_claim claim(uint32_t job, uint32_t weight, unsigned int first, unsigned int last)
{
	struct mal_cpumask cpus = range(first, last);

	return (struct mal_claim){
		.job = job, .weight = weight, .min = 1, .cpus = cpus, .share = cpus};
}

static void assert_share(const struct mal_claim *claim, const char *list)
{
	char text[256];

	assert_string_equal(mal_cpumask_format(&claim->share, text, sizeof(text)), list);
}

static void one_job_has_all(void **state)
{
	struct mal_claim claims[] = {claim(1, 1, 0, 7)};

	(void)state;
	mal_shares_divide(claims, 1);
	assert_share(&claims[0], "0-7");
	assert_true(claims[0].divided);
}

static void two_jobs_have_halves(void **state)
{
	struct mal_claim claims[] = {claim(1, 1, 0, 7), claim(2, 1, 0, 7)};

	(void)state;
	mal_shares_divide(claims, 2);
	assert_share(&claims[0], "0-3");
	assert_share(&claims[1], "4-7");
	/* The first one ends. */
	mal_shares_divide(claims + 1, 1);
	assert_share(&claims[1], "0-7");
}

static void weights_count(void **state)
{
	struct mal_claim claims[] = {claim(1, 3, 0, 7), claim(2, 1, 0, 7)};

	(void)state;
	mal_shares_divide(claims, 2);
	assert_share(&claims[0], "0-5");
	assert_share(&claims[1], "6-7");
}

/* A third step comes: the others keep all CPUs but those they lose. */
static void little_changes_hands(void **state)
{
	struct mal_claim claims[] = {claim(1, 1, 0, 8), claim(2, 1, 0, 8), claim(3, 1, 0, 8)};

	(void)state;
	claims[0].share = range(0, 3);
	claims[1].share = range(4, 8);
	mal_shares_divide(claims, 3);
	assert_share(&claims[0], "0-2");
	assert_share(&claims[1], "4-6");
	assert_share(&claims[2], "3,7-8");
}

/*
 * Two steps of one job, each with its own CPUs, beside a job that has all of them: each job gets
 * half.
 */
static void steps_of_a_job_count_once(void **state)
{
	struct mal_claim claims[] = {claim(1, 1, 0, 3), claim(1, 1, 4, 7), claim(2, 1, 0, 7)};

	(void)state;
	mal_shares_divide(claims, 3);
	assert_share(&claims[0], "0-1");
	assert_share(&claims[1], "4-5");
	assert_share(&claims[2], "2-3,6-7");
}

static void what_only_one_has_is_not_divided(void **state)
{
	struct mal_claim claims[] = {claim(1, 1, 0, 5), claim(2, 1, 4, 7)};

	(void)state;
	mal_shares_divide(claims, 2);
	assert_int_equal(mal_cpumask_count(&claims[0].share), 5);
	assert_int_equal(mal_cpumask_count(&claims[1].share), 3);
}

static void who_would_get_too_few_is_left_out(void **state)
{
	struct mal_claim claims[] = {claim(1, 1, 0, 3), claim(2, 1, 0, 3), claim(3, 1, 0, 3)};

	(void)state;
	claims[1].min = 3;
	mal_shares_divide(claims, 3);
	assert_false(claims[1].divided);
	assert_share(&claims[0], "0-1");
	assert_share(&claims[1], "0-3");
	assert_share(&claims[2], "2-3");
}

/*
 * For any claims: each CPU of a divided claim goes to one claim that has it, and no divided claim
 * gets fewer than its minimum.
 */
static void always_complete_and_disjoint(void **state)
{
	unsigned int seed =
		getenv("SEED") ? (unsigned int)atoi(getenv("SEED")) : (unsigned int)time(NULL);

	(void)state;
	print_message("# SEED=%u\n", seed);
	srand(seed);
	for (int round = 0; round < 3000; round++) {
		struct mal_claim claims[12];
		struct mal_cpumask seen = {{0}}, all = {{0}};
		size_t count = 1 + (size_t)rand() % 12;

		for (size_t i = 0; i < count; i++) {
			unsigned int first = (unsigned int)rand() % 40;

			claims[i] = claim((uint32_t)(rand() % 5), 1 + (uint32_t)(rand() % 4), first,
					  first + (unsigned int)rand() % 24);
			claims[i].min = 1 + (uint32_t)(rand() % 4);
			if (rand() % 2)
				claims[i].share = range(first, first);
		}
		mal_shares_divide(claims, count);
		for (size_t i = 0; i < count; i++) {
			struct mal_cpumask rest = claims[i].share, twice = claims[i].share;

			mal_cpumask_drop(&rest, &claims[i].cpus);
			assert_int_equal(mal_cpumask_count(&rest), 0);
			if (!claims[i].divided) {
				assert_memory_equal(&claims[i].share, &claims[i].cpus,
						    sizeof(claims[i].cpus));
				continue;
			}
			assert_true(mal_cpumask_count(&claims[i].share) >= claims[i].min);
			mal_cpumask_intersect(&twice, &seen);
			assert_int_equal(mal_cpumask_count(&twice), 0);
			mal_cpumask_union(&seen, &claims[i].share);
			mal_cpumask_union(&all, &claims[i].cpus);
		}
		assert_memory_equal(&seen, &all, sizeof(all));
	}
}

/* Half of what slurmstepd waits for the agent; more where the code was not optimised. */
#ifdef __OPTIMIZE__
#define DIVIDE_NS 50000000
#else
#define DIVIDE_NS 500000000
#endif

/* The worst case: as many claims as possible, most of which are left out one after the other. */
static void many_are_divided_in_time(void **state)
{
	static struct mal_claim claims[64];
	struct timespec begin, end;

	(void)state;
	for (size_t i = 0; i < 64; i++) {
		claims[i] = claim((uint32_t)i, 1, 0, 511);
		claims[i].min = 64;
	}
	/* Measure this thread's CPU time: other processes may run. */
	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin), 0);
	mal_shares_divide(claims, 64);
	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end), 0);
	print_message("# %.1f ms\n", (double)(end.tv_sec - begin.tv_sec) * 1e3 +
					     (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
	assert_true((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec <
		    DIVIDE_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_job_has_all),
		cmocka_unit_test(two_jobs_have_halves),
		cmocka_unit_test(weights_count),
		cmocka_unit_test(little_changes_hands),
		cmocka_unit_test(steps_of_a_job_count_once),
		cmocka_unit_test(what_only_one_has_is_not_divided),
		cmocka_unit_test(who_would_get_too_few_is_left_out),
		cmocka_unit_test(always_complete_and_disjoint),
		cmocka_unit_test(many_are_divided_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_model.c: what policies know of loads: sharing out CPUs, how work scales, and whether a
 * move was good.
 */
#include "t/unit/unit.h"

#include <math.h>
#include <stdlib.h>

#include "policies/interface/limits.h"
#include "policies/model/apportion.h"
#include "policies/model/model.h"
#include "policies/model/regret.h"
#include "policies/model/scaling.h"

#define RANKS 3

/* The longest rank's time; ranks above their bound count as never ending. */
static double longest(const struct mal_sample *samples, const struct mal_load *loads,
		      const unsigned int *count)
{
	double time = 0;

	for (unsigned int rank = 0; rank < RANKS; rank++)
		time = fmax(time, samples[rank].max && count[rank] > samples[rank].max
					  ? 1e300
					  : mal_apportion_time(&loads[rank], count[rank]));
	return time;
}

/* Against all ways to share out the CPUs. */
static void the_longest_rank_is_as_short_as_can_be(void **state)
{
	(void)state;
	srand(11);
	for (int i = 0; i < 2000; i++) {
		struct mal_sample samples[RANKS] = {
			{.running = true}, {.running = true}, {.running = true}};
		struct mal_view view = {.rank_count = RANKS, .samples = samples};
		unsigned int cpus = RANKS + (unsigned int)rand() % 12, count[RANKS];
		struct mal_load loads[RANKS];
		double best = 1e300;

		for (unsigned int rank = 0; rank < RANKS; rank++) {
			loads[rank] = (struct mal_load){rand() % 100 / 100.0, rand() % 10 / 100.0};
			samples[rank].max = rand() % 4 ? 0 : 1 + (unsigned int)rand() % 6;
		}
		for (unsigned int a = 1; a < cpus; a++)
			for (unsigned int b = 1; a + b < cpus; b++)
				best = fmin(best, longest(samples, loads,
							  (unsigned int[]){a, b, cpus - a - b}));
		if (!mal_apportion(&view, loads, cpus, count)) {
			assert_true(best >= 1e300);
			continue;
		}
		assert_int_equal(count[0] + count[1] + count[2], cpus);
		assert_true(count[0] && count[1] && count[2]);
		assert_float_equal(longest(samples, loads, count), best, 1e-9);
	}
}

static void what_cannot_be_shared_out(void **state)
{
	struct mal_sample samples[2] = {{.running = true, .max = 2}, {.running = true, .max = 2}};
	const struct mal_load loads[2] = {{1, 0}, {1, 0}};
	struct mal_view view = {.rank_count = 2, .samples = samples};
	unsigned int count[2];

	(void)state;
	assert_false(mal_apportion(&view, loads, 1, count));
	assert_true(mal_apportion(&view, loads, 4, count));
	/* Nobody can use the fifth. */
	assert_false(mal_apportion(&view, loads, 5, count));
	samples[1].running = false;
	assert_true(mal_apportion(&view, loads, 2, count));
	assert_int_equal(count[0], 2);
	assert_int_equal(count[1], 0);
}

/*
 * Two windows with 4 CPUs and two with 8, of a rank of which the part FIXED does not scale; its
 * threads are TEAM, or as many as its CPUs if that is 0. What is idle in regions says nothing
 * where the team is not its own.
 */
static double learn(double fixed, unsigned int team, double idle)
{
	struct mal_scaling *scaling = mal_scaling_create();
	struct mal_sample sample = {.running = true, .phases = 1};
	struct mal_view view = {.rank_count = 1, .samples = &sample};
	double learnt;

	assert_non_null(scaling);
	for (int window = 0; window < 4; window++) {
		sample.cpus = window < 2 ? 4 : 8;
		sample.team = team ? team : sample.cpus;
		sample.work_s = 10 * (fixed * sample.cpus + 1 - fixed);
		sample.barrier_s = idle * window;
		assert_int_equal(mal_scaling_learn(scaling, &view), 0);
	}
	learnt = mal_scaling_fixed(scaling, 0);
	mal_scaling_destroy(scaling);
	return learnt;
}

/* One change seen is believed to four fifths. */
static void the_part_that_does_not_scale_is_learnt(void **state)
{
	(void)state;
	assert_float_equal(learn(0, 0, 0), 0, 1e-9);
	assert_float_equal(learn(0.2, 0, 0), 0.2 / 1.25, 1e-9);
	assert_float_equal(learn(0.5, 0, 0), 0.5 / 1.25, 1e-9);
	assert_float_equal(learn(0.2, 12, 7), 0.2 / 1.25, 1e-9);
}

static struct mal_regret regret_of(const unsigned int *count)
{
	struct mal_regret regret = {0};

	assert_int_equal(mal_regret_reset(&regret, 2), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(mal_regret_window(&regret, 1, false), MAL_VERDICT_GO_ON);
	mal_regret_moved(&regret, count);
	return regret;
}

static void a_good_move_is_proved(void **state)
{
	struct mal_regret regret = regret_of((unsigned int[]){4, 4});

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(mal_regret_window(&regret, 0.8, false), MAL_VERDICT_GO_ON);
	assert_true(regret.proved);
	mal_regret_clear(&regret);
}

/* Phases are longer than they differed before: what stood is put back, and stays for a while. */
static void a_move_that_made_phases_longer_is_taken_back(void **state)
{
	struct mal_regret regret = regret_of((unsigned int[]){5, 3});

	(void)state;
	assert_true(mal_regret_is_open(&regret));
	assert_int_equal(mal_regret_window(&regret, 1.1, false), MAL_VERDICT_GO_ON);
	assert_int_equal(mal_regret_window(&regret, 1.1, false), MAL_VERDICT_ROLL_BACK);
	assert_int_equal(regret.before[0], 5);
	for (int i = 0; i < 8; i++)
		assert_int_equal(mal_regret_window(&regret, 1, false), MAL_VERDICT_STAY);
	assert_int_equal(mal_regret_window(&regret, 1, false), MAL_VERDICT_GO_ON);
	mal_regret_clear(&regret);
}

/* Moves stop for 8 windows, then 16; a long good time forgives. */
static void each_regret_lasts_longer(void **state)
{
	static const unsigned int count[] = {4, 4};
	struct mal_regret regret = regret_of(count);

	(void)state;
	for (int still = 8; still <= 16; still *= 2) {
		assert_int_equal(mal_regret_window(&regret, 1, true), MAL_VERDICT_STILL);
		for (int i = 0; i < still; i++)
			assert_int_equal(mal_regret_window(&regret, 1, false), MAL_VERDICT_STILL);
		assert_int_equal(mal_regret_window(&regret, 1, false), MAL_VERDICT_GO_ON);
		mal_regret_moved(&regret, count);
	}
	for (int i = 0; i < 200; i++)
		assert_int_equal(mal_regret_window(&regret, 1, false), MAL_VERDICT_GO_ON);
	assert_int_equal(regret.still_next, 8);
	mal_regret_clear(&regret);
}

/*
 * A rank whose program cannot use all its CPUs is as long as with those that it can use; one that
 * ended lends nothing.
 */
static void cpus_that_cannot_be_used(void **state)
{
	struct mal_sample samples[2] = {{.running = true, .work_s = 4, .max = 2},
					{.running = false, .work_s = 9}};
	unsigned int count[2] = {4, 4};
	struct mal_usage usage = {.count = count};

	(void)state;
	assert_float_equal(mal_model_window(samples, 2, &usage, NULL), 2, 1e-9);
	usage.lend = usage.grow = true;
	assert_float_equal(mal_model_window(samples, 2, &usage, NULL), 2, 1e-9);
	samples[0].max = 0;
	assert_float_equal(mal_model_window(samples, 2, &usage, NULL), 1, 1e-9);
}

static void no_step_has_so_many_ranks(void **state)
{
	static struct mal_sample samples[MAL_MAX_RANKS + 1];
	static unsigned int count[MAL_MAX_RANKS + 1];

	(void)state;
	assert_true(isnan(mal_model_window(samples, MAL_MAX_RANKS + 1,
					   &(struct mal_usage){.count = count}, NULL)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_rank_is_as_short_as_can_be),
		cmocka_unit_test(what_cannot_be_shared_out),
		cmocka_unit_test(the_part_that_does_not_scale_is_learnt),
		cmocka_unit_test(a_good_move_is_proved),
		cmocka_unit_test(a_move_that_made_phases_longer_is_taken_back),
		cmocka_unit_test(each_regret_lasts_longer),
		cmocka_unit_test(cpus_that_cannot_be_used),
		cmocka_unit_test(no_step_has_so_many_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

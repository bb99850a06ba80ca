/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_model.c: what policies know of loads: sharing out CPUs, how work scales, and what was
 * measured.
 */
#include "t/unit/unit.h"

#include <math.h>
#include <stdlib.h>

#include "policies/interface/limits.h"
#include "policies/model/apportion.h"
#include "policies/model/efficiency.h"
#include "policies/model/forecast.h"
#include "policies/model/home.h"
#include "policies/model/model.h"
#include "policies/model/scaling.h"
#include "policies/model/unit.h"

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
	static struct mal_scaling scaling;
	struct mal_sample sample = {.running = true, .phases = 1};
	struct mal_view view = {.rank_count = 1, .samples = &sample};
	double learnt;

	scaling = (struct mal_scaling){0};
	for (int window = 0; window < 4; window++) {
		sample.cpus = window < 2 ? 4 : 8;
		sample.team = team ? team : sample.cpus;
		sample.work_s = 10 * (fixed * sample.cpus + 1 - fixed);
		sample.barrier_s = idle * window;
		mal_scaling_learn(&scaling, &view);
	}
	learnt = mal_scaling_fixed(&scaling, 0);
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

/* Chunks of loops that fit 12 CPUs and not 13 leave some idle: that work does scale. */
static void chunks_that_do_not_fit_say_nothing(void **state)
{
	static struct mal_scaling scaling;
	struct mal_sample sample = {.running = true, .phases = 1, .work_s = 10};
	struct mal_view view = {.rank_count = 1, .samples = &sample};

	(void)state;
	scaling = (struct mal_scaling){0};
	for (int window = 0; window < 4; window++) {
		sample.cpus = sample.team = window < 2 ? 12 : 13;
		sample.barrier_s = window < 2 ? 0 : 1;
		mal_scaling_learn(&scaling, &view);
	}
	assert_true(mal_scaling_fixed(&scaling, 0) == 0);
}

/*
 * A window of ELAPSED_S with PHASES and REGIONS; COMPARABLE: nothing was tried in it. Returns
 * whether the unit is another one.
 */
static bool count(struct mal_unit *unit, double elapsed_s, double phases, double regions,
		  bool comparable)
{
	struct mal_sample samples[2] = {
		{.running = true,
		 .elapsed_s = elapsed_s,
		 .region_s = elapsed_s / regions,
		 .phases = phases},
		{.running = true, .elapsed_s = elapsed_s, .phases = phases}};
	struct mal_view view = {.rank_count = 2, .samples = samples};
	bool another = mal_unit_learn(unit, &view, comparable);

	assert_float_equal(mal_unit_length(unit), elapsed_s / (unit->kind ? regions : phases),
			   1e-9);
	return another;
}

/* Progress is counted in what is steady; phases where both are, or neither. */
static void progress_is_counted_in_what_is_steady(void **state)
{
	struct mal_unit even = {0}, rough = {0}, phases = {0}, apart = {0};
	unsigned int changes = 0;

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		double wave = 1 + i % 3, small = 1 + 0.01 * (i % 3);

		assert_false(count(&even, 1, 10 * small, 20, true));
		assert_false(count(&rough, wave, 10, 20, true));
		changes += count(&phases, small, 10 * wave, 20, true);
		/* What runs in another way in between is no difference. */
		assert_false(count(&apart, 1, i % 10 ? 10 : 100, 20, true));
		assert_false(count(&apart, 1, i % 10 ? 10 : 100, 20, true));
		assert_false(count(&apart, 1, 50, 20, false));
	}
	assert_int_equal(changes, 1);
	assert_int_equal(phases.kind, 1);
}

/* Home is the very CPUs, as long as the step has them. */
static void home_is_left_with_its_cpus(void **state)
{
	struct mal_sample samples[2] = {{.running = true, .cpus = 2}, {.running = true, .cpus = 1}};
	struct mal_topology topology = {.cpu_count = 4};
	unsigned int owner[] = {0, 0, 1, 2};
	struct mal_view view = {&topology, 2, samples, owner};
	struct mal_home home = {0};

	(void)state;
	assert_false(mal_home_is_of(&home, &view, 3));
	mal_home_settle(&home, &view, 3);
	assert_true(mal_home_is_of(&home, &view, 3) && mal_home_is_here(&home, &view));
	owner[1] = 1;
	owner[2] = 0;
	assert_true(mal_home_is_of(&home, &view, 3));
	assert_false(mal_home_is_here(&home, &view));
	/* Another step took a CPU of ours and left us another one. */
	owner[1] = 2;
	owner[3] = 1;
	assert_false(mal_home_is_of(&home, &view, 3));
	owner[1] = 1;
	owner[3] = 2;
	samples[0].max = 1;
	assert_false(mal_home_is_of(&home, &view, 3));
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

/* What a waiting rank lends goes to the rank that needs longest, not to the one with most work. */
static void the_longest_region_borrows(void **state)
{
	struct mal_sample samples[3] = {{.running = true, .work_s = 8},
					{.running = true, .work_s = 6, .max = 2},
					{.running = true}};
	unsigned int count[3] = {4, 1, 1};
	struct mal_usage usage = {.count = count, .lend = true, .grow = true};

	(void)state;
	/* On two CPUs from the beginning. */
	assert_float_equal(mal_model_window(samples, 3, &usage, NULL), 3, 1e-3);
}

/* A load that falls goes on to fall, and no further than to nothing. */
static void trends_go_on(void **state)
{
	static struct mal_forecast forecast = {.smooth = 0.5};
	struct mal_sample samples[2] = {{.running = true, .phases = 1, .cpus = 1},
					{.running = true, .phases = 1, .cpus = 1}};
	struct mal_view view = {.rank_count = 2, .samples = samples};
	struct mal_load loads[2];

	(void)state;
	for (int window = 0; window < 2; window++) {
		samples[0].work_s = window ? 1 : 3;
		samples[1].work_s = window ? 99 : 97;
		assert_true(mal_forecast_learn(&forecast, &view));
	}
	mal_forecast_get(&forecast, MAL_FORECAST_LAST, loads);
	assert_float_equal(loads[0].work, 0.01, 1e-9);
	mal_forecast_get(&forecast, MAL_FORECAST_TREND, loads);
	assert_float_equal(loads[0].work, 0, 1e-9);
	assert_float_equal(loads[1].work, 1.01, 1e-9);
}

static void no_step_has_so_many_ranks(void **state)
{
	static struct mal_sample samples[MAL_MAX_RANKS + 1];
	static unsigned int count[MAL_MAX_RANKS + 1];

	(void)state;
	assert_true(isnan(mal_model_window(samples, MAL_MAX_RANKS + 1,
					   &(struct mal_usage){.count = count}, NULL)));
}

/* Two CPUs a rank; one works alone for a while, and waits longer. */
static void efficiencies_of_uneven_ranks(void **state)
{
	const struct mal_sample samples[] = {
		{.running = true,
		 .elapsed_s = 2.5,
		 .work_s = 3,
		 .barrier_s = 0.5,
		 .serial_s = 0.25,
		 .mpi_s = 0.5,
		 .cpus = 2},
		{.running = true,
		 .elapsed_s = 2.5,
		 .work_s = 1,
		 .serial_s = 0.5,
		 .mpi_s = 1.5,
		 .cpus = 2},
		{.running = false},
	};
	struct mal_cpu_seconds seconds = {0};
	struct mal_efficiencies part = mal_efficiencies(&seconds);

	(void)state;
	assert_true(isnan(part.parallel) && isnan(part.regions));
	mal_cpu_seconds_add(&seconds, samples, 3, 4);
	assert_float_equal(seconds.all_s, 10, 1e-9);
	assert_float_equal(seconds.reachable_s, 8, 1e-9);
	assert_float_equal(seconds.computing_s, 6, 1e-9);
	assert_float_equal(seconds.threads_s, 5.25, 1e-9);
	assert_float_equal(seconds.useful_s, 4.75, 1e-9);
	mal_cpu_seconds_add(&seconds, samples, 3, 4);
	part = mal_efficiencies(&seconds);
	assert_float_equal(part.parallel, 0.475, 1e-9);
	assert_float_equal(part.mpi, 0.6, 1e-9);
	assert_float_equal(part.load_balance, 0.75, 1e-9);
	assert_float_equal(part.communication, 0.8, 1e-9);
	assert_float_equal(part.openmp, 4.75 / 6, 1e-9);
	assert_float_equal(part.serial, 0.875, 1e-9);
	assert_float_equal(part.regions, 4.75 / 5.25, 1e-9);
}

/* Teams with more threads than CPUs say more than there was: no part is above the whole. */
static void efficiency_of_crowds(void **state)
{
	const struct mal_sample samples[] = {
		{.running = true, .elapsed_s = 2, .work_s = 2, .barrier_s = 9, .cpus = 2},
	};
	struct mal_cpu_seconds seconds = {0};

	(void)state;
	mal_cpu_seconds_add(&seconds, samples, 1, 2);
	assert_float_equal(seconds.computing_s, 4, 1e-9);
	assert_float_equal(seconds.threads_s, 4, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(progress_is_counted_in_what_is_steady),
		cmocka_unit_test(the_longest_rank_is_as_short_as_can_be),
		cmocka_unit_test(what_cannot_be_shared_out),
		cmocka_unit_test(the_part_that_does_not_scale_is_learnt),
		cmocka_unit_test(chunks_that_do_not_fit_say_nothing),
		cmocka_unit_test(home_is_left_with_its_cpus),
		cmocka_unit_test(cpus_that_cannot_be_used),
		cmocka_unit_test(the_longest_region_borrows),
		cmocka_unit_test(trends_go_on),
		cmocka_unit_test(no_step_has_so_many_ranks),
		cmocka_unit_test(efficiencies_of_uneven_ranks),
		cmocka_unit_test(efficiency_of_crowds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

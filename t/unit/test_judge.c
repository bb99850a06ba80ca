/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_judge.c: which way is trusted, what trials cost, and how long blocks count. */
#include "t/unit/unit.h"

#include <math.h>

#include "policies/model/judge.h"

/* As judge.c has it. */
#define TRIALS 0.004
#define HORIZON 40
#define REST 64
#define PATIENCE 4

/* Of windows that differ: at most this part of them. */
#define NOISE 0.1

#define BOTH (MAL_WAY_LEND | MAL_WAY_MOVE)

/* A step, whose phase takes so many seconds by each way. */
struct run {
	struct mal_judge judge;
	double phase_s[MAL_WAYS], left, noise;
	bool unsettled; /* trials never have their CPUs */
	unsigned int windows, blocks, seed;
};

static struct mal_judge_window window_of(struct run *run)
{
	double phase_s = run->phase_s[run->judge.way];

	run->seed = run->seed * 1103515245u + 12345u;
	phase_s *= 1 + run->noise * ((double)(run->seed >> 16) / 32768 - 1);

	return (struct mal_judge_window){
		.phase_s = phase_s,
		.elapsed_s = phase_s,
		.left = run->left,
		.still = true,
		.settled = !run->unsettled || !mal_judge_is_trying(&run->judge),
		.worked = true,
		.apart = run->judge.way != 0,
	};
}

static void pass(struct run *run, unsigned int windows)
{
	for (unsigned int i = 0; i < windows; i++) {
		struct mal_judge_window window = window_of(run);

		mal_judge_learn(&run->judge, &window);
		run->blocks += mal_judge_begin(&run->judge, &window, false);
		run->windows++;
	}
}

static struct run begin(unsigned int allowed, unsigned int first)
{
	struct run run = {.phase_s = {1, 1, 1, 1}, .left = 0.3};

	mal_judge_reset(&run.judge, allowed, first);
	return run;
}

/* A window that is as doing nothing, before CPUs move. */
static void at_home(struct run *run, double phase_s)
{
	struct mal_judge_window window = window_of(run);

	window.phase_s = phase_s;
	window.apart = false;
	mal_judge_learn(&run->judge, &window);
}

/* Doing nothing is not believed to be slow for one window of it that took long. */
static void a_long_window_at_home_hides_no_loss(void **state)
{
	struct run run = begin(MAL_WAY_MOVE, MAL_WAY_MOVE);

	(void)state;
	run.phase_s[MAL_WAY_MOVE] = 1.5;
	at_home(&run, 1);
	at_home(&run, 3.2);
	pass(&run, 20);
	assert_int_equal(run.judge.trusted, 0);
}

/* Moves that make phases much longer than they were at home do not wait for the first look. */
static void a_great_loss_is_tried_at_once(void **state)
{
	struct run run = begin(MAL_WAY_MOVE, MAL_WAY_MOVE);

	(void)state;
	run.phase_s[MAL_WAY_MOVE] = 1.5;
	at_home(&run, 1);
	at_home(&run, 1);
	pass(&run, 6);
	assert_int_equal(run.judge.trusted, 0);
}

/* Nothing is known of what has not been tried. */
static void nothing_is_compared_at_first(void **state)
{
	struct run run = begin(BOTH, 0);

	(void)state;
	assert_float_equal(mal_judge_times(&run.judge, MAL_WAY_LEND), 0, 0);
	assert_false(mal_judge_is_trying(&run.judge));
	assert_int_equal(run.judge.way, 0);
}

static void faster_way_is_trusted(void **state)
{
	struct run run = begin(BOTH, 0);

	(void)state;
	run.phase_s[MAL_WAY_LEND] = 0.8;
	run.phase_s[MAL_WAY_LEND | MAL_WAY_MOVE] = 0.8;
	pass(&run, 40);
	assert_true(run.judge.trusted & MAL_WAY_LEND);
	assert_float_equal(mal_judge_times(&run.judge, MAL_WAY_LEND), 0.8, 1e-9);
}

/* What does less is trusted again where it is faster, and the other rests. */
static void slower_way_is_left(void **state)
{
	struct run run = begin(MAL_WAY_LEND, MAL_WAY_LEND);

	(void)state;
	run.phase_s[MAL_WAY_LEND] = 1.2;
	pass(&run, 30);
	assert_int_equal(run.judge.trusted, 0);
	assert_float_equal(mal_judge_times(&run.judge, MAL_WAY_LEND), 1.2, 1e-9);
	assert_in_range(run.judge.ways[MAL_WAY_LEND].rest, 1, REST);
}

static void forbidden_way_is_never_tried(void **state)
{
	struct run run = begin(0, 0);

	(void)state;
	run.phase_s[MAL_WAY_LEND] = 0.5;
	pass(&run, 500);
	assert_int_equal(run.blocks, 0);
}

/* Ways that lose are tried the less the more they lose; together they keep to their bound. */
static void trials_lose_little(void **state)
{
	struct run run = begin(BOTH, 0);

	(void)state;
	run.phase_s[MAL_WAY_LEND] = 1.04;
	run.phase_s[MAL_WAY_MOVE] = 1.04;
	run.phase_s[MAL_WAY_LEND | MAL_WAY_MOVE] = 1.04;
	run.noise = NOISE;
	for (unsigned int i = 0; i < 5000; i++) {
		double before = run.judge.lost_s;

		pass(&run, 1);
		/* A block of two windows may lose as much beyond what was expected of it. */
		if (run.judge.lost_s > before && run.blocks > 2)
			assert_true(run.judge.lost_s <=
				    4 * (0.04 + NOISE) + TRIALS * run.judge.run_s);
	}
	assert_true(run.blocks > 8);
}

/* A trial whose CPUs do not come ends, and its way rests. */
static void trial_that_cannot_begin_ends(void **state)
{
	struct run run = begin(MAL_WAY_MOVE, 0);
	unsigned int waited = 0;

	(void)state;
	run.unsettled = true;
	while (!mal_judge_is_trying(&run.judge) && run.windows < 100)
		pass(&run, 1);
	assert_true(mal_judge_is_trying(&run.judge));
	while (mal_judge_is_trying(&run.judge) && waited < 100) {
		pass(&run, 1);
		waited++;
	}
	assert_int_equal(waited, PATIENCE + 1);
	assert_int_equal(run.judge.ways[MAL_WAY_MOVE].rest, REST);
	assert_float_equal(mal_judge_times(&run.judge, MAL_WAY_MOVE), 0, 0);
}

/*
 * As many blocks count as the horizon has: what is known of a way is their mean, in which each new
 * one has its part, however long the step has run.
 */
static void old_blocks_fade(void **state)
{
	struct run run = begin(MAL_WAY_MOVE, 0);
	struct mal_way *way = &run.judge.ways[MAL_WAY_MOVE], before;
	unsigned int seen = 0;

	(void)state;
	run.noise = 2 * NOISE;
	for (unsigned int i = 0; i < 1000000 && seen < 20; i++) {
		before = *way;
		pass(&run, 1);
		if (way->mean == before.mean)
			continue;
		assert_int_equal(run.judge.trusted, 0);
		assert_float_equal(way->blocks, fmin(before.blocks + 1, HORIZON), 0);
		if (before.blocks == HORIZON) {
			double off = (way->mean - before.mean) * HORIZON, gain = before.mean + off;

			seen++;
			assert_true(fabs(gain) < log((1 + 2 * NOISE) / (1 - 2 * NOISE)));
			assert_float_equal(way->squares,
					   before.squares * (HORIZON - 1) / HORIZON +
						   off * (gain - way->mean),
					   1e-9);
		}
	}
	assert_int_equal(seen, 20);
}

/* Seconds of another kind of phase are not compared with those before. */
static void renewed_judge_begins_anew(void **state)
{
	struct run run = begin(BOTH, 0);

	(void)state;
	pass(&run, 3);
	assert_true(run.judge.run > 0);
	mal_judge_renew(&run.judge);
	assert_int_equal(run.judge.run, 0);
	for (unsigned int way = 0; way < MAL_WAYS; way++)
		run.phase_s[way] = 7;
	pass(&run, 200);
	assert_float_equal(run.judge.past[MAL_JUDGE_PAST - 1], 7, 0);
	assert_int_equal(run.judge.trusted, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_compared_at_first),
		cmocka_unit_test(a_long_window_at_home_hides_no_loss),
		cmocka_unit_test(a_great_loss_is_tried_at_once),
		cmocka_unit_test(faster_way_is_trusted),
		cmocka_unit_test(slower_way_is_left),
		cmocka_unit_test(forbidden_way_is_never_tried),
		cmocka_unit_test(trials_lose_little),
		cmocka_unit_test(trial_that_cannot_begin_ends),
		cmocka_unit_test(old_blocks_fade),
		cmocka_unit_test(renewed_judge_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

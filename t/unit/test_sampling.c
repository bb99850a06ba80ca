/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_sampling.c: from what ranks say to checked numbers: rounds, windows, plausibility, sums, and
 * the CPUs over time.
 */
#include "t/unit/node_controller.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/load/history.h"
#include "libmalleable/controller/load/plausibility.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/ranks.h"
#include "policies/decide/windows.h"
#include "policies/interface/attained.h"
#include "policies/interface/limits.h"

#define NEAR 1e-6

static struct mal_controller *node;

static int set_up(void **state)
{
	(void)state;
	node = node_start(3, 2, "--policy=observe --step=7.0 --node=n1");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	node_close(node);
	node_set_stat(NULL);
	return 0;
}

static void all_say(double seconds, double work_s)
{
	node_pass(seconds);
	for (unsigned int rank = 0; rank < 3; rank++)
		node_say(rank, work_s, 0, 0);
}

/* A whole round. */
static void take(double seconds, double work_s)
{
	all_say(seconds, work_s);
	node_take(node);
}

/* One sample is of an earlier round: this round makes no window, nor does the next one. */
static void throw_away(double seconds)
{
	struct mal_snapshot old = node_said(2);

	all_say(seconds, 0.0005);
	node_lie(2, &old);
	node_take(node);
}

/* A round is there when all who run have spoken; who speaks asks for nothing. */
static void round_is_complete(void **state)
{
	struct mal_header *header = node_segment()->header;
	uint64_t round = header->round;

	(void)state;
	assert_int_equal(header->expected, 3);
	node_pass(1);
	node_say(0, 0.5, 0, 0);
	node_say(1, 0.5, 0, 0);
	assert_false(mal_round_is_complete(node));
	node_say(2, 0.5, 0, 0);
	assert_true(mal_round_is_complete(node));
	node_take(node);
	assert_int_equal(header->round, round + 1);
	assert_int_equal(header->arrivals, 0);
	assert_false(mal_round_is_complete(node));
}

/* Where nobody runs there is no round to wait for. */
static void without_ranks_no_round_is_awaited(void **state)
{
	(void)state;
	for (unsigned int rank = 0; rank < 3; rank++)
		node_rank_end(rank);
	assert_true(mal_ranks_update(node));
	mal_round_begin(node);
	assert_false(mal_round_is_complete(node));
	assert_int_equal(node_segment()->header->expected, 0);
}

/*
 * Ranks are asked at a boundary behind the furthest one, and after the window's time; those that
 * sleep on the answer are woken.
 */
static void asks_for_next(void **state)
{
	struct mal_header *header = node_segment()->header;
	uint32_t answers = header->answers;

	(void)state;
	node_slot(0)->count.boundaries[MAL_BOUNDARY_COLLECTIVE] = 7;
	node_slot(1)->count.boundaries[MAL_BOUNDARY_COLLECTIVE] = 12;
	node_slot(2)->count.boundaries[MAL_BOUNDARY_COLLECTIVE] = 90;
	node_rank_kill(2);
	assert_true(mal_ranks_update(node));
	header->awaiting = 1;
	mal_round_begin(node);
	assert_int_equal(header->sample_at, 13);
	assert_int_equal(header->answers, answers + 1);
	assert_int_equal(header->expected, 2);
	assert_true(header->sample_after > 0);
}

/* Each of the three ranks passes a boundary of KINDS, and SECONDS later the controller looks. */
static enum mal_boundary_kind chosen(const enum mal_boundary_kind kinds[3], double seconds)
{
	for (unsigned int rank = 0; rank < 3; rank++)
		node_slot(rank)->count.boundaries[kinds[rank]]++;
	node_pass(seconds);
	mal_round_look(node);
	return node_segment()->header->kind;
}

#define CALL MAL_BOUNDARY_CALL
#define PERIOD MAL_BOUNDARY_PERIOD
#define COLLECTIVE MAL_BOUNDARY_COLLECTIVE
#define MARK MAL_BOUNDARY_MARK
static const enum mal_boundary_kind calls[] = {CALL, CALL, CALL},
				    periods[] = {PERIOD, PERIOD, PERIOD},
				    collectives[] = {COLLECTIVE, COLLECTIVE, COLLECTIVE},
				    marks[] = {MARK, MARK, MARK};

/* The strongest kind that all ranks pass ends a phase, as soon as all have passed one. */
static void strongest_of_all(void **state)
{
	uint64_t round = node_segment()->header->round;

	(void)state;
	assert_int_equal(node_segment()->header->kind, PERIOD);
	assert_int_equal(chosen(periods, 0.01), PERIOD);
	assert_int_equal(chosen((enum mal_boundary_kind[]){MARK, COLLECTIVE, PERIOD}, 0.01),
			 PERIOD);
	assert_int_equal(node_segment()->header->round, round);
	assert_int_equal(chosen((enum mal_boundary_kind[]){COLLECTIVE, MARK, COLLECTIVE}, 0.01),
			 COLLECTIVE);
	assert_int_equal(node_segment()->header->round, round + 1);
	assert_int_equal(chosen(marks, 0.01), MARK);
	/* Ranks are asked by the count of that kind. */
	assert_int_equal(node_segment()->header->sample_at, 3);
	assert_int_equal(chosen(collectives, 0.01), MARK);
	assert_int_equal(node_segment()->header->sample_at, 3);
}

/* Collective calls that come no more, as those with which programs begin, hold up no window. */
static void ceasing_collectives_hold_up_no_window(void **state)
{
	(void)state;
	assert_int_equal(chosen(collectives, 0.01), COLLECTIVE);
	assert_int_equal(chosen(calls, 0.9), COLLECTIVE);
	assert_int_equal(chosen(calls, 0.2), PERIOD);
	/* Regions that repeat are found from now on, if there are any. */
	assert_int_equal(chosen(calls, 0.9), PERIOD);
	assert_int_equal(chosen(calls, 0.2), CALL);
	assert_int_equal(chosen(calls, 3), CALL);
	assert_int_equal(chosen(periods, 0.01), PERIOD);
	assert_int_equal(chosen(collectives, 0.01), COLLECTIVE);
}

/* Marks as well, and those that one rank alone makes. */
static void collectives_that_cease_in_one_rank(void **state)
{
	static const enum mal_boundary_kind one[] = {COLLECTIVE, MARK, COLLECTIVE};

	(void)state;
	assert_int_equal(chosen(marks, 0.1), MARK);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(chosen(one, 0.1), MARK);
	assert_int_equal(
		chosen((enum mal_boundary_kind[]){COLLECTIVE, COLLECTIVE, COLLECTIVE}, 0.1),
		COLLECTIVE);
}

/* Where phases take 10 s weaker boundaries count in the first one alone. */
static void weaker_boundaries_count_in_the_first_long_phase(void **state)
{
	(void)state;
	chosen(collectives, 0.1);
	for (unsigned int phase = 0; phase < 10; phase++) {
		unsigned int weaker = 0;

		for (unsigned int i = 0; i < 100; i++)
			weaker += chosen(periods, 0.1) == PERIOD;
		assert_int_equal(weaker > 0, !phase);
		assert_int_equal(chosen(collectives, 0.1), COLLECTIVE);
	}
}

/* Collective calls each 0.9 s are not late, though a window takes more of them. */
static void many_in_a_window(void **state)
{
	(void)state;
	chosen(collectives, 0.1);
	for (unsigned int i = 0; i < 50; i++)
		assert_int_equal(chosen(i % 9 ? periods : collectives, 0.1), COLLECTIVE);
}

/* A rank that hands out work has nothing but calls, and one has no regions. */
static void differing_ranks_have_windows(void **state)
{
	static const enum mal_boundary_kind master[] = {CALL, PERIOD, PERIOD},
					    without[] = {COLLECTIVE, PERIOD, PERIOD};

	(void)state;
	for (unsigned int i = 0; i < 9; i++)
		assert_int_equal(chosen(master, 0.1), PERIOD);
	for (unsigned int i = 0; i < 9; i++)
		chosen(master, 0.1);
	assert_int_equal(chosen(master, 0.1), CALL);
	for (unsigned int i = 0; i < 30; i++)
		assert_int_equal(chosen(without, 0.1), PERIOD);
}

/* At what the others pass alone they do not meet. */
static void one_passes_none(void **state)
{
	static const enum mal_boundary_kind kinds[] = {COLLECTIVE, MAL_BOUNDARY_NONE, COLLECTIVE};

	(void)state;
	for (unsigned int i = 0; i < 30; i++)
		assert_int_equal(chosen(kinds, 0.1), PERIOD);
	assert_int_equal(mal_sampling_boundaries(node, 0), 30);
	assert_int_equal(mal_sampling_boundaries(node, 1), 0);
}

/* What a task executes next has other boundaries, or the same ones. */
static void next_program_has_its_own_boundaries(void **state)
{
	(void)state;
	assert_int_equal(chosen(marks, 0.1), MARK);
	for (unsigned int rank = 0; rank < 3; rank++) {
		node_rank_end(rank);
		memset(node_slot(rank)->count.boundaries, 0,
		       sizeof(node_slot(rank)->count.boundaries));
	}
	assert_true(mal_ranks_update(node));
	mal_round_begin(node);
	/* The report tells by these. */
	assert_int_equal(node_segment()->header->kind, MARK);
	for (unsigned int rank = 0; rank < 3; rank++)
		node_rank_start(rank);
	assert_true(mal_ranks_update(node));
	mal_round_begin(node);
	assert_int_equal(node_segment()->header->kind, PERIOD);
	assert_int_equal(chosen(marks, 0.1), MARK);
}

/* What ranks write may be anything: the choice is one of the kinds, and told again. */
static void kinds_are_bounded(void **state)
{
	struct mal_header *header = node_segment()->header;

	(void)state;
	chosen(collectives, 0.1);
	for (unsigned int i = 0; i < 50; i++) {
		for (unsigned int kind = 0; kind < MAL_BOUNDARY_KINDS; kind++)
			node_slot(1)->count.boundaries[kind] =
				i % 3 ? UINT64_MAX - i * kind : i % 2;
		header->kind = 1000 + i;
		header->sample_at = i;
		mal_round_begin(node);
		assert_in_range(chosen(collectives, 0.4), CALL, MARK);
	}
}

/* How many of one kind there are in a window tells nothing of another kind. */
static void strides_anew_by_another_kind(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 50; round++)
		take(0.002, 0.001);
	assert_true(node_stride(node) > 10);
	chosen(marks, 0.001);
	assert_int_equal(node_stride(node), 1);
}

/* The first round is the start of the first window. */
static void first_is_start(void **state)
{
	(void)state;
	take(1, 0.5);
	assert_int_equal(node_totals(node)->windows, 0);
	take(1, 0.5);
	assert_int_equal(node_totals(node)->windows, 1);
	assert_float_equal(node_sample(node, 1)->elapsed_s, 1, NEAR);
	assert_float_equal(node_sample(node, 1)->work_s, 0.5, NEAR);
	assert_int_equal(node_sample(node, 1)->cpus, 2);
	assert_int_equal(node_sample(node, 1)->team, NODE_TEAM);
	assert_float_equal(node_sample(node, 1)->phases, 1, NEAR);
	assert_float_equal(node_sample(node, 1)->region_s, 0.25, NEAR);
}

/* What a rank claims is no more than can have been. */
static void claims_are_bounded(void **state)
{
	struct mal_snapshot lie;
	const struct mal_sample *sample = node_sample(node, 1);

	(void)state;
	node_begin(node);
	all_say(1, 0.5);
	lie = node_said(1);
	lie.busy += UINT64_C(1000000000000000);
	lie.serial += UINT64_C(1000000000000000);
	lie.mpi += UINT64_C(1000000000000000);
	lie.region += UINT64_C(1000000000000000);
	lie.thread_ticks += UINT64_C(1000000000000000);
	lie.cpu += UINT64_C(1000000000000000);
	lie.max = UINT64_MAX;
	lie.team = UINT64_MAX;
	node_lie(1, &lie);
	node_take(node);
	assert_float_equal(sample->elapsed_s, 1, NEAR);
	assert_float_equal(sample->work_s, 6, NEAR);
	assert_float_equal(sample->serial_s, 1, NEAR);
	assert_float_equal(sample->mpi_s, 1, NEAR);
	assert_float_equal(sample->region_s, 1, NEAR);
	assert_float_equal(sample->barrier_s, node_segment()->thread_count - 6.0, NEAR);
	assert_float_equal(node->rank_totals[1].barrier_s, sample->barrier_s, NEAR);
	assert_int_equal(sample->max, 0);
	assert_int_equal(sample->team, 65536);
}

/* Counters that run backwards add nothing. */
static void counters_that_run_backwards_add_nothing(void **state)
{
	struct mal_snapshot lie;
	const struct mal_sample *sample = node_sample(node, 0);

	(void)state;
	node_begin(node);
	all_say(1, 0.5);
	lie = node_said(0);
	lie.busy = lie.serial = lie.mpi = lie.thread_ticks = lie.regions = 0;
	memset(lie.boundaries, 0, sizeof(lie.boundaries));
	node_lie(0, &lie);
	node_take(node);
	assert_true(sample->running);
	assert_float_equal(sample->work_s + sample->serial_s + sample->mpi_s + sample->barrier_s, 0,
			   NEAR);
	assert_float_equal(sample->phases, 0, NEAR);
	assert_true(isfinite(sample->region_s));
}

/*
 * Rounds that are no window: a rank is silent, says another round, at another boundary than where
 * ranks meet, or stays at its time.
 */
static void rounds_without_samples_are_no_window(void **state)
{
	struct mal_snapshot said;

	(void)state;
	node_begin(node);
	for (unsigned int how = 0; how < 4; how++) {
		unsigned int windows = node_totals(node)->windows;

		all_say(1, 0.5);
		said = node_said(2);
		if (how == 0)
			node_slot(2)->snapshot_sequence |= 1;
		if (how == 1)
			said.round--;
		if (how == 2)
			said.kind = MAL_BOUNDARY_MARK;
		if (how == 3)
			said.tick -= 1000000000;
		if (how)
			node_lie(2, &said);
		node_take(node);
		assert_int_equal(node_totals(node)->windows, windows);
		node_slot(2)->snapshot_sequence &= ~UINT32_C(1);
		/* The next that is whole is a start again, and the one after it a window. */
		node_begin(node);
		assert_true(node_totals(node)->windows > windows);
	}
}

/* A rank whose first sample is of the middle of a phase did less by the end of that than others. */
static void first_is_of_whole_phases(void **state)
{
	struct mal_snapshot said;

	(void)state;
	all_say(1, 0.5);
	said = node_said(2);
	said.kind = MAL_BOUNDARY_CALL;
	node_lie(2, &said);
	node_take(node);
	take(1, 0.5);
	assert_int_equal(node_totals(node)->windows, 0);
	take(1, 0.5);
	assert_int_equal(node_totals(node)->windows, 1);
}

/* What is too short to tell work from noise goes on growing. */
static void short_windows_go_on_growing(void **state)
{
	(void)state;
	node_begin(node);
	take(0.001, 0.001);
	assert_int_equal(node_totals(node)->windows, 1);
	take(0.5, 0.5);
	assert_int_equal(node_totals(node)->windows, 2);
	assert_float_equal(node_sample(node, 0)->elapsed_s, 0.501, NEAR);
	assert_float_equal(node_sample(node, 0)->work_s, 0.501, NEAR);
}

/*
 * Boundaries between samples: each at first; then as many as make a window, twice as many as before
 * at most.
 */
static void stride_grows(void **state)
{
	uint64_t before = 0;

	(void)state;
	for (unsigned int round = 0; round < 31; round++) {
		assert_int_equal(node_stride(node), 1);
		take(0.02, 0.01);
	}
	for (unsigned int round = 0; round < 12; round++) {
		assert_true(node_stride(node) <= 2 * before || !before);
		before = node_stride(node);
		take(0.02, 0.01);
	}
	assert_int_equal(node_stride(node), (uint64_t)(node_window_s(node) / 0.02));
	/* Phases that last longer than a window: each is one. */
	for (unsigned int round = 0; round < 3; round++)
		take(20, 1);
	assert_int_equal(node_stride(node), 1);
}

/* A time step may have several boundaries, whose phases differ: no window cuts one. */
static void strides_are_whole_steps(void **state)
{
	static const struct {
		unsigned int boundaries;
		double phase_s[4];
	} steps[] = {
		{2, {0.02, 0.001}}, {3, {0.001, 0.01, 0.001}}, {4, {0.005, 0.005, 0.005, 0.001}}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		node_close(node);
		node = node_start(3, 2, "--policy=auto");
		/* The first one begins the first window. */
		for (unsigned int round = 0; round < 35; round++) {
			double phase_s = steps[i].phase_s[round % steps[i].boundaries];

			if (round == 18)
				throw_away(phase_s);
			else
				take(phase_s, 0.0005);
		}
		for (unsigned int round = 0; round < 12; round++) {
			assert_int_equal(node_stride(node) % steps[i].boundaries, 0);
			take(0.02, 0.01);
		}
	}
}

/* Boundaries of another kind are not taken from those of the window that went on. */
static void other_boundaries_count_anew(void **state)
{
	struct mal_windows windows = mal_windows_first();

	(void)state;
	assert_false(mal_windows_end(&windows, 5, 0.001));
	mal_windows_count_anew(&windows);
	assert_false(mal_windows_end(&windows, 1, 0.001));
	assert_int_equal(windows.early, 1);
}

/* Windows grow while nothing changes, and begin short again when something does. */
static void windows_grow(void **state)
{
	struct mal_plan move = {.bind = true, .move = true}, stay = {.bind = true},
			brief = {.bind = true, .short_windows = true};

	(void)state;
	node_close(node);
	node = node_start(3, 2, "--policy=puppet");
	node_puppet(&stay, NULL);
	for (unsigned int i = 0; i < 8; i++)
		node_begin(node);
	assert_float_equal(node_window_s(node), MAL_WINDOW_LAST_S, NEAR);
	node_puppet(&brief, NULL);
	node_begin(node);
	assert_float_equal(node_window_s(node), MAL_WINDOW_FIRST_S, NEAR);
	node_puppet(&stay, NULL);
	for (unsigned int i = 0; i < 8; i++)
		node_begin(node);
	assert_float_equal(node_window_s(node), MAL_WINDOW_LAST_S, NEAR);
	node_puppet(&move, (const unsigned int[]){3, 2, 1});
	node_begin(node);
	assert_float_equal(node_window_s(node), MAL_WINDOW_FIRST_S, NEAR);
}

/* One that is to be brief is so at once: not as many phases as a long one before had. */
static void brief_at_once(void **state)
{
	static const double work_s[] = {0.001, 0.001, 0.001};
	struct mal_plan stay = {.bind = true}, brief = {.bind = true, .short_windows = true};

	(void)state;
	node_close(node);
	node = node_start(3, 2, "--policy=puppet");
	node_puppet(&stay, NULL);
	for (unsigned int round = 0; round < 1000; round++)
		node_window(node, 0.002, work_s);
	assert_int_equal(node_stride(node), 50);
	node_puppet(&brief, NULL);
	while (node_window_s(node) > MAL_WINDOW_FIRST_S)
		node_window(node, 0.002, work_s);
	assert_int_equal(node_stride(node), 25);
}

/* Homes are what Slurm gave, whatever a rank says. */
static void home_is_bounded(void **state)
{
	(void)state;
	node_rank_kill(1);
	assert_true(mal_ranks_update(node));
	node_rank_start(1);
	memset(&node_slot(1)->home, 0xff, sizeof(node_slot(1)->home));
	assert_true(mal_ranks_update(node));
	assert_string_equal(node_format(&node_rank(node, 1)->home), "0-5");
	assert_false(mal_ranks_update(node));
}

/* A rank that is killed is dead; one that says so ended; the next in its place is another. */
static void comes_and_goes(void **state)
{
	int32_t pid = node_rank(node, 0)->pid;

	(void)state;
	node_rank_kill(0);
	assert_true(mal_ranks_update(node));
	assert_int_equal(node_slot(0)->state, MAL_RANK_DEAD);
	assert_false(node_rank(node, 0)->running);
	assert_true(node_cpu(0).lent && node_cpu(0).user == MAL_NOBODY);
	node_rank_start(0);
	assert_true(mal_ranks_update(node));
	assert_true(node_rank(node, 0)->running);
	assert_int_not_equal(node_rank(node, 0)->pid, pid);
	node_rank_end(1);
	assert_true(mal_ranks_update(node));
	assert_int_equal(node_slot(1)->state, MAL_RANK_ENDED);
	assert_true(node_rank(node, 1)->left);
	node_rank_kill(1);
	assert_false(mal_ranks_update(node));
	assert_false(node_rank(node, 1)->left);
	/* One that came and ended since was there, too. */
	node_rank_start(1);
	node_rank_end(1);
	assert_false(mal_ranks_update(node));
	assert_int_equal(node_rank(node, 1)->pid, node_slot(1)->pid);
	assert_true(node_rank(node, 1)->left);
}

/*
 * Another process says that it is the rank: that one ran no more, and nothing of the new one is
 * recovered.
 */
static void other_process_is_not_believed(void **state)
{
	(void)state;
	node_rank_start(0);
	assert_false(mal_ranks_update(node));
	assert_true(node_rank(node, 0)->running);
	assert_int_equal(node_rank(node, 0)->pid, node_slot(0)->pid);
	assert_int_equal(node_slot(0)->state, MAL_RANK_RUNNING);
	assert_int_equal(node_cpu(0).user, 0);
	/* A number that is no process's is no rank. */
	node_slot(0)->pid = -1;
	assert_true(mal_ranks_update(node));
	assert_false(node_rank(node, 0)->running);
}

/*
 * RANK says that it worked WORK_S seconds, for which the kernel gave it CPU_S, and the others
 * OUTSIDE_TEAM_S.
 */
static void say_work_and_cpu(unsigned int rank, double work_s, double cpu_s, double outside_team_s)
{
	struct mal_snapshot said = node_said(rank);
	uint64_t cpu = said.cpu;

	node_say(rank, work_s, 0, 0);
	said = node_said(rank);
	said.cpu = cpu + (uint64_t)(cpu_s * 1e9);
	said.outside_team += (uint64_t)(outside_team_s * 1e9);
	node_lie(rank, &said);
}

/* A window of 1 s in which rank 2 was stopped for most of the time. */
static void pass_stopped(void)
{
	node_pass(1);
	node_say(0, 1, 0, 0);
	node_say(1, 1, 0, 0);
	say_work_and_cpu(2, 1, 0.2, 0);
	node_take(node);
}

/* A rank was stopped: its window is thrown away, and counted. */
static void windows_of_stopped_ranks_are_thrown_away(void **state)
{
	(void)state;
	node_begin(node);
	pass_stopped();
	assert_int_equal(node_plausibility(node)->stopped, 1);
	assert_int_equal(node_plausibility(node)->outside_team, 0);
	assert_int_equal(node_totals(node)->windows, 1);
	/* One that always has so little sleeps where it computes: that is how it is. */
	for (unsigned int i = 0; i < 3; i++)
		pass_stopped();
	assert_int_equal(node_plausibility(node)->stopped, 1);
	assert_int_equal(node_totals(node)->windows, 4);
}

/* A rank works in threads that OpenMP does not know: nothing is decided on it. */
static void windows_outside_team(void **state)
{
	struct mal_plan stay = {.bind = true};
	unsigned int asked;

	(void)state;
	node_close(node);
	node = node_start(3, 2, "--policy=puppet");
	node_puppet(&stay, NULL);
	node_begin(node);
	asked = node_puppet_asked();
	node_pass(1);
	node_say(0, 1, 0, 0);
	say_work_and_cpu(1, 0.1, 1.1, 1);
	node_say(2, 1, 0, 0);
	node_take(node);
	assert_true(node_plausibility(node)->now);
	assert_int_equal(node_plausibility(node)->outside_team, 1);
	assert_int_equal(node_plausibility(node)->rank, 1);
	assert_float_equal(node_plausibility(node)->outside_team_s, 1, NEAR);
	assert_float_equal(node_plausibility(node)->seen_s, 0.1, NEAR);
	assert_int_equal(node_puppet_asked(), asked);
	take(1, 0.5);
	assert_false(node_plausibility(node)->now);
	assert_int_equal(node_puppet_asked(), asked + 1);
	/* A little that is not seen is nothing. */
	node_pass(1);
	node_say(0, 1, 0, 0);
	say_work_and_cpu(1, 0.01, 0.1, 0.05);
	node_say(2, 1, 0, 0);
	node_take(node);
	assert_int_equal(node_plausibility(node)->outside_team, 1);
}

/* RANK says that it waited for so long of its serial part of 1 s. */
static void say_waits(unsigned int rank, double waits_s)
{
	struct mal_snapshot said;

	node_say(rank, 0.5, 1, 0);
	said = node_said(rank);
	said.waits += (uint64_t)(waits_s * 1e9);
	node_lie(rank, &said);
}

/* What is said of waits outside MPI is bounded; one that was stopped waited for nobody. */
static void waits_outside_mpi_are_bounded(void **state)
{
	struct mal_outside outside;

	(void)state;
	/* Behind a window without any. */
	node_begin(node);
	for (unsigned int i = 0; i < 2; i++) {
		node_pass(1);
		say_waits(0, 0.6);
		say_waits(1, 0.006);
		say_waits(2, i ? 100 : 0);
		node_take(node);
		outside = mal_plausibility_outside(node);
		assert_int_equal(outside.rank, 0);
		assert_float_equal(outside.max, i ? 0.4 : 0.3, NEAR);
		assert_float_equal(outside.part, i ? 2.212 / 9 : 0.101, NEAR);
		assert_true(outside.known);
	}
	pass_stopped();
	assert_int_equal(node_plausibility(node)->stopped, 1);
	assert_float_equal(mal_plausibility_outside(node).part, 2.212 / 9, NEAR);
}

/* For how long each of the six CPUs was busy, by the kernel. */
static char kernel_stat[512];
static double cpu_busy_s;

/* A second passes in which all CPUs are busy. */
static void pass_busy(void)
{
	char *end = kernel_stat;

	node_pass(1);
	cpu_busy_s++;
	for (unsigned int cpu = 0; cpu < 6; cpu++)
		end += sprintf(end, "cpu%u %.0f 0 0 0 0 0 0 0 0 0\n", cpu,
			       (1000 + cpu_busy_s) * (double)sysconf(_SC_CLK_TCK));
	node_set_stat(kernel_stat);
}

/* Windows of 1 s with all CPUs busy. Ranks compute all the time, and have CPUs for PART of it. */
static void take_windows(unsigned int windows, double part)
{
	for (unsigned int i = 0; i < windows; i++) {
		pass_busy();
		for (unsigned int rank = 0; rank < 3; rank++)
			if (node_rank(node, rank)->running)
				say_work_and_cpu(rank, 2, 2 * part, 0);
		node_take(node);
	}
}

static void others_use_cpus(void **state)
{
	(void)state;
	/* The first round is a start, and the window behind it the start of counting. */
	take_windows(2, 1);
	assert_true(isnan(node_plausibility(node)->parts.used));
	take_windows(1, 1);
	assert_float_equal(node_plausibility(node)->parts.used, 0, NEAR);
	take_windows(2, 0.5);
	assert_float_equal(node_plausibility(node)->parts.used, 1.0 / 3, NEAR);
	assert_float_equal(node_plausibility(node)->lost_s, node_plausibility(node)->computed_s / 4,
			   NEAR);
}

/* The longest wait of a thread counts, from the first reading on, as far as others used CPUs. */
static void others_take_time(void **state)
{
	(void)state;
	take_windows(2, 1);
	assert_true(isnan(node_plausibility(node)->parts.taken));
	/* The kernel may not count waits. */
	take_windows(1, 0.5);
	assert_true(isnan(node_plausibility(node)->parts.taken));
	node_thread_waits(1, 0, 77);
	take_windows(1, 0.5);
	assert_true(isnan(node_plausibility(node)->parts.taken));
	node_thread_waits(1, 0, 0.1);
	node_thread_waits(1, 1, 0.5);
	node_thread_waits(2, 0, 0.5);
	take_windows(2, 0.5);
	assert_float_equal(node_plausibility(node)->parts.taken, 0.25, NEAR);
	/* Threads of the step waited for each other where nobody else used its CPUs. */
	node_thread_waits(1, 0, 10);
	take_windows(8, 4.0 / 3);
	assert_float_equal(node_plausibility(node)->parts.used, 0, NEAR);
	assert_float_equal(node_plausibility(node)->parts.taken, 0, NEAR);
}

/* A rank's last work is in no sample. What runs behind it may be its script's next program. */
static void ended_ranks_are_no_others(void **state)
{
	(void)state;
	take_windows(3, 1);
	node_rank_end(0);
	assert_true(mal_ranks_update(node));
	mal_round_begin(node);
	take_windows(3, 1);
	assert_float_equal(node_plausibility(node)->parts.used, 0, NEAR);
}

/* Where a round makes no window, what the ranks used in it is not known. */
static void rounds_without_window_are_no_others(void **state)
{
	struct mal_snapshot said;

	(void)state;
	take_windows(3, 1);
	pass_busy();
	for (unsigned int rank = 0; rank < 3; rank++)
		node_say(rank, 2, 0, 0);
	said = node_said(2);
	said.kind = MAL_BOUNDARY_PERIOD;
	node_lie(2, &said);
	node_take(node);
	take_windows(3, 1);
	assert_float_equal(node_plausibility(node)->parts.used, 0, NEAR);
}

/* Another step has a part of the CPUs for a time. */
static void other_steps_are_no_others(void **state)
{
	(void)state;
	take_windows(3, 1);
	assert_string_equal(node_ask(node, "peers we:0-3:0-7 they:4-5:0-7"), "ok\n");
	take_windows(3, 0.5);
	assert_float_equal(node_plausibility(node)->parts.used, 0, NEAR);
}

/* Ranks of 2, 1 and 1 s of work on two CPUs each: 1 s, where 4 s on six CPUs would take 2/3. */
static void sums_of_work_are_right(void **state)
{
	const struct mal_totals *totals = node_totals(node);

	(void)state;
	node_window(node, 1, (const double[]){2, 1, 1});
	node_window(node, 1, (const double[]){2, 1, 1});
	assert_int_equal(totals->windows, 1);
	assert_float_equal(totals->elapsed_s, 1, NEAR);
	assert_float_equal(totals->off_s, 1, NEAR);
	assert_float_equal(totals->ideal_s, 4.0 / 6, NEAR);
	assert_float_equal(totals->cpus.useful_s, 4, NEAR);
	assert_float_equal(totals->cpus.all_s, 6, NEAR);
	assert_float_equal(totals->balance_before, 4.0 / 6, NEAR);
	assert_float_equal(totals->balance_after, 4.0 / 6, NEAR);
	assert_float_equal(mal_attained(totals->off_s, totals->ideal_s, totals->elapsed_s), 0,
			   NEAR);
	assert_float_equal(node->rank_totals[0].work_s, 2, NEAR);
	assert_float_equal(node->rank_totals[1].mpi_s, 0.5, NEAR);
	/*
	 * In a window in which nobody did anything there was nothing to gain, and it counts for
	 * nothing.
	 */
	node_window(node, 1, (const double[]){0, 0, 0});
	assert_int_equal(totals->windows, 1);
	assert_float_equal(node->rank_totals[1].mpi_s, 1.5, NEAR);
}

/* What regions lose inside they lose without us too, where nobody used a CPU of another. */
static void losses_inside_regions_are_no_gain(void **state)
{
	const struct mal_totals *totals = node_totals(node);

	(void)state;
	take(1, 0.5);
	take(1, 0.5);
	assert_float_equal(totals->off_s, 1, NEAR);
	assert_float_equal(totals->ideal_s, 1, NEAR);
	assert_true(isnan(mal_attained(totals->off_s, totals->ideal_s, totals->elapsed_s)));
	/* In the first window they lost more, as they created their threads. */
	node_segment()->ranks[1].count.borrows++;
	take(1, 0.5);
	assert_float_equal(totals->off_s, 1.25, NEAR);
	take(1, 0.5);
	assert_float_equal(totals->off_s, 2.25, NEAR);
	/* Rank 1 has a CPU of rank 0 as this window ends and the next begins. */
	node_set_cpu(0, 0, 1, true);
	take(1, 0.5);
	assert_float_equal(totals->off_s, 3.25, NEAR);
	node_set_cpu(0, 0, 0, false);
	take(1, 0.5);
	assert_float_equal(totals->off_s, 4.25, NEAR);
	take(1, 0.5);
	assert_float_equal(totals->off_s, 5.25, NEAR);
}

/* A window loses no more inside regions without us than it lost. */
static void loss_is_bounded(void **state)
{
	const struct mal_totals *totals = node_totals(node);

	(void)state;
	take(1, 0.5);
	take(1, 0.5);
	take(1, 1e-6);
	node_segment()->ranks[1].count.borrows++;
	take(1, 2);
	assert_float_equal(totals->off_s, 3, NEAR);
	node_segment()->ranks[1].count.borrows++;
	take(1, 1.6);
	assert_float_equal(totals->off_s, 4, NEAR);
}

/* Where all lose as much, they lose it at best as well. */
static void loss_is_everywhere(void **state)
{
	const struct mal_totals *totals = node_totals(node);
	double off, ideal;

	(void)state;
	take(1, 0.5);
	take(1, 0.5);
	take(1, 0.5);
	off = totals->off_s;
	ideal = totals->ideal_s;
	node_segment()->ranks[1].count.borrows++;
	take(1, 0.5);
	assert_float_equal(totals->off_s - off, 1, NEAR);
	assert_float_equal(totals->ideal_s - ideal, 1, NEAR);
}

/*
 * A second, in which rank 0 works and is not in MPI, and rank 1, which waits in MPI for a part,
 * grants it a CPU.
 */
static void take_unmanaged(double work_s, double waiting_s, bool grants)
{
	node_pass(1);
	node_say(0, work_s, fmax(0, 1 - work_s), 0);
	node_say(1, 1 - waiting_s, 0, waiting_s);
	node_segment()->ranks[1].count.grants += grants;
	node_take(node);
}

/* Two ranks with one CPU each; rank 0 has two threads that are not seen. */
static int set_up_unmanaged(void **state)
{
	struct mal_snapshot said;

	(void)state;
	node = node_start(2, 1, "--policy=lewi");
	said = node_said(0);
	said.max = 2;
	node_lie(0, &said);
	take_unmanaged(1, 0.8, false);
	node_slot(0)->unmanaged = true;
	node_segment()->ranks[1].count.grants++;
	return 0;
}

/*
 * Of threads that are not seen it is known how much they computed, and not when. Where they had a
 * CPU more it would have taken as long at least, and longer by what they may have computed there.
 */
static void bounds_of_unseen_threads(void **state)
{
	const struct mal_totals *totals = node_totals(node);

	(void)state;
	/* They waited for half of it, or longer, and worked side by side. */
	take_unmanaged(0.5, 0.8, true);
	assert_float_equal(totals->off_s, 1, NEAR);
	assert_float_equal(totals->unsure_s, 0.25, NEAR);
	/* They had no more than all that they used. */
	take_unmanaged(1.8, 0.8, true);
	assert_float_equal(totals->off_s, 2.8, NEAR);
	assert_float_equal(totals->unsure_s, 0.25, NEAR);
	/* One at a time, or all at once and then none. */
	take_unmanaged(1, 0.8, true);
	assert_float_equal(totals->off_s, 3.8, NEAR);
	assert_float_equal(totals->unsure_s, 0.75, NEAR);
}

/* What they lose where nobody shares they lose in other windows, and then that is known. */
static void unseen_threads_alone(void **state)
{
	const struct mal_totals *totals = node_totals(node);

	(void)state;
	take_unmanaged(1.8, 0.8, true);
	take_unmanaged(0.8, 0.8, false);
	assert_float_equal(totals->off_s, 2.8, NEAR);
	take_unmanaged(1, 0.8, true);
	assert_float_equal(totals->off_s, 4.05, NEAR);
	assert_float_equal(totals->unsure_s, 0, NEAR);
}

/* With CPUs from outside there are more than at first. */
static void sums_of_more(void **state)
{
	(void)state;
	node_close(node);
	node = node_start(2, 1, "--policy=observe --idle=2-3");
	node_set_cpu(2, 0, 0, false);
	node_set_cpu(3, 1, 1, false);
	node_window(node, 1, (const double[]){1, 1});
	node_window(node, 1, (const double[]){1, 1});
	assert_float_equal(node_totals(node)->cpus.all_s, 4, NEAR);
	assert_float_equal(node_totals(node)->off_s, 1.5, 0.6);
}

static void note(void)
{
	static struct mal_window window;

	mal_window_begin(node, &window);
	mal_history_note(node, &window);
}

/* CPUs over time: what changes, when it does. */
static void changes_are_noted(void **state)
{
	json_t *list;
	char *text;

	(void)state;
	note();
	node_pass(1.5);
	note();
	assert_int_equal(node_history(node), 1);
	node_set_cpu(2, 0, 0, false);
	note();
	assert_int_equal(node_history(node), 2);
	list = mal_history_json(node);
	text = json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(3));
	assert_string_equal(text, "[[0.0,[2,2,2]],[1.5,[3,1,2]]]");
	free(text);
	json_decref(list);
	for (unsigned int i = 0; i < 2 * MAL_HISTORY_MAX; i++) {
		node_set_cpu(2, i % 2, i % 2, false);
		note();
	}
	assert_int_equal(node_history(node), MAL_HISTORY_MAX);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
#define UNSEEN(function) cmocka_unit_test_setup_teardown(function, set_up_unmanaged, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(round_is_complete),
		CASE(without_ranks_no_round_is_awaited),
		CASE(asks_for_next),
		CASE(strongest_of_all),
		CASE(ceasing_collectives_hold_up_no_window),
		CASE(collectives_that_cease_in_one_rank),
		CASE(weaker_boundaries_count_in_the_first_long_phase),
		CASE(many_in_a_window),
		CASE(differing_ranks_have_windows),
		CASE(one_passes_none),
		CASE(next_program_has_its_own_boundaries),
		CASE(kinds_are_bounded),
		CASE(strides_anew_by_another_kind),
		CASE(first_is_start),
		CASE(claims_are_bounded),
		CASE(counters_that_run_backwards_add_nothing),
		CASE(rounds_without_samples_are_no_window),
		CASE(first_is_of_whole_phases),
		CASE(short_windows_go_on_growing),
		CASE(stride_grows),
		CASE(strides_are_whole_steps),
		CASE(other_boundaries_count_anew),
		CASE(windows_grow),
		CASE(brief_at_once),
		CASE(home_is_bounded),
		CASE(comes_and_goes),
		CASE(other_process_is_not_believed),
		CASE(windows_of_stopped_ranks_are_thrown_away),
		CASE(waits_outside_mpi_are_bounded),
		CASE(windows_outside_team),
		CASE(others_use_cpus),
		CASE(others_take_time),
		CASE(ended_ranks_are_no_others),
		CASE(rounds_without_window_are_no_others),
		CASE(other_steps_are_no_others),
		CASE(sums_of_work_are_right),
		CASE(losses_inside_regions_are_no_gain),
		CASE(loss_is_bounded),
		CASE(loss_is_everywhere),
		UNSEEN(bounds_of_unseen_threads),
		UNSEEN(unseen_threads_alone),
		CASE(sums_of_more),
		CASE(changes_are_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

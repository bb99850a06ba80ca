/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_phase.c: at which boundaries a rank gives samples. */
#include "t/unit/rank_fixture.h"

#include "libmalleable/rank/phase.c"

static struct mal_header *header;

static int set_up(void **state)
{
	(void)state;
	open_node(2, 1, 1);
	memset(&mal.phase, 0, sizeof(mal.phase));
	mal.last_leave = test_clock.now;
	header = mal.segment.header;
	header->rules = MAL_RULE_READY;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_node();
	return 0;
}

/* The controller begins a round, with a window of STRIDE boundaries of the kind that it knows. */
static void begin_round(uint64_t stride)
{
	header->sample_at = mal.slot->count.boundaries + stride;
	header->sample_after = test_clock.now + 50 * MS;
	header->round++;
}

static bool says_sample(enum mal_boundary_kind kind)
{
	mal.last_leave = test_clock.now;
	mal_phase_boundary(kind);
	return mal.phase.said_round == header->round;
}

/* A call of MPI that is no boundary by itself. */
static bool call_says_sample(void)
{
	mal.left_mpi = test_clock.now;
	mal_phase_call();
	return mal.phase.said_round == header->round;
}

static void by_the_count(void **state)
{
	(void)state;
	begin_round(1);
	assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
	begin_round(3);
	assert_false(says_sample(MAL_BOUNDARY_COLLECTIVE));
	assert_false(says_sample(MAL_BOUNDARY_COLLECTIVE));
	assert_false(says_sample(MAL_BOUNDARY_PERIOD));
	assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
}

static void by_the_clock(void **state)
{
	(void)state;
	begin_round(1);
	for (int i = 0; i < 5; i++)
		assert_false(says_sample(MAL_BOUNDARY_PERIOD));
	turn_clock(60 * MS);
	assert_true(says_sample(MAL_BOUNDARY_PERIOD));
}

/*
 * Boundaries are counted anew from the first stronger one on. The controller reckons with the old
 * count: it has to learn the new one at once, or there is no window for as many boundaries as there
 * were.
 */
static void stronger_kind(void **state)
{
	(void)state;
	begin_round(1);
	turn_clock(60 * MS);
	assert_true(says_sample(MAL_BOUNDARY_PERIOD));
	for (int i = 0; i < 1000; i++)
		mal_phase_boundary(MAL_BOUNDARY_PERIOD);
	begin_round(2);
	assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
	begin_round(2);
	assert_false(says_sample(MAL_BOUNDARY_COLLECTIVE));
	assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
}

/* Collective calls that come no more, as those with which programs begin, hold up no window. */
static void weaker_kind(void **state)
{
	(void)state;
	begin_round(1);
	assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
	begin_round(1);
	assert_false(says_sample(MAL_BOUNDARY_PERIOD));
	turn_clock(900 * MS);
	assert_false(says_sample(MAL_BOUNDARY_PERIOD));
	turn_clock(200 * MS);
	assert_true(says_sample(MAL_BOUNDARY_PERIOD));
	/* These go on to count, and calls of MPI do not for that. */
	for (int i = 0; i < 100; i++) {
		begin_round(1);
		turn_clock(60 * MS);
		assert_false(call_says_sample());
		assert_true(says_sample(MAL_BOUNDARY_PERIOD));
	}
}

/* Any call of MPI is a boundary where nothing else is, but not before regions would be known. */
static void any_call(void **state)
{
	(void)state;
	begin_round(1);
	for (int i = 0; i < 200; i++) {
		assert_false(call_says_sample());
		turn_clock(10 * MS);
	}
	turn_clock(100 * MS);
	assert_true(call_says_sample());
	begin_round(1);
	assert_false(call_says_sample());
	turn_clock(60 * MS);
	assert_true(call_says_sample());
	/* A collective call is one at once, and the next call no more. */
	begin_round(1);
	assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
	begin_round(1);
	turn_clock(60 * MS);
	assert_false(call_says_sample());
}

/* Regions that repeat within phases of 10 s are boundaries in the first one alone. */
static void long_phases(void **state)
{
	(void)state;
	begin_round(1);
	assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
	for (int phase = 0; phase < 10; phase++) {
		unsigned int samples = 0;

		begin_round(1);
		for (int i = 0; i < 100; i++) {
			if (says_sample(MAL_BOUNDARY_PERIOD)) {
				samples++;
				begin_round(1);
			}
			turn_clock(100 * MS);
		}
		assert_int_equal(samples > 0, !phase);
		assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
	}
}

/* Collective calls each 0.9 s are not late, though a window takes more of them. */
static void many_in_a_window(void **state)
{
	(void)state;
	begin_round(1);
	assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
	begin_round(6);
	for (int phase = 0; phase < 5; phase++) {
		for (int i = 0; i < 9; i++) {
			assert_false(says_sample(MAL_BOUNDARY_PERIOD));
			turn_clock(100 * MS);
		}
		assert_false(says_sample(MAL_BOUNDARY_COLLECTIVE));
	}
	assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
}

/* All ranks count the collective calls alike, whenever they begin to go by them. */
static void kinds_apart(void **state)
{
	(void)state;
	for (int i = 0; i < 7; i++)
		mal_phase_boundary(MAL_BOUNDARY_COLLECTIVE);
	mal_phase_boundary(MAL_BOUNDARY_MARK);
	for (int i = 0; i < 5; i++)
		mal_phase_boundary(MAL_BOUNDARY_COLLECTIVE);
	assert_int_equal(mal.slot->count.boundaries, 1);
	begin_round(1);
	turn_clock(3000 * MS);
	assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
	assert_int_equal(mal.slot->count.boundaries, 13);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(by_the_count), CASE(by_the_clock), CASE(stronger_kind),	CASE(weaker_kind),
		CASE(any_call),	    CASE(long_phases),	CASE(many_in_a_window), CASE(kinds_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

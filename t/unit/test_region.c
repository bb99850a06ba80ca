/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_region.c: the number of threads that a region is prepared for, where a num_threads clause
 * looks like the runtime's own choice.
 *
 * The rank library's region.c runs here as rank 0 with two CPUs; rank 1 has two more and may wait.
 * run() acts as the OpenMP runtime: a team has the number in the clause, else the number set last.
 */
#include "t/unit/rank_fixture.h"

#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/region.h"
#include "libmalleable/rank/team.h"

#define RANKS 2u
#define CPUS 4u
#define THREADS 8u
#define NONE 0u
#define LONG (20 * MS)

static unsigned int placed; /* the team placed last */
static unsigned int max_placed;

bool mal_bind_team(unsigned int team)
{
	placed = team;
	max_placed = team > max_placed ? team : max_placed;
	return true;
}

unsigned int mal_team_bound(unsigned int threads)
{
	return threads < THREADS ? threads : THREADS;
}

static int set_up(void **state)
{
	(void)state;
	open_node(RANKS, CPUS / RANKS, THREADS);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_node();
	return 0;
}

static void begin(const void *where, unsigned int clause)
{
	unsigned int size;

	mal_region_begin(where, clause ? clause : mal.team);
	size = clause ? clause : mal.team;
	if (size != mal.running)
		mal_region_resized(size);
}

/* After 20 ms, in all of which rank 1 waited if OFFERED. */
static void end(const void *where, bool offered)
{
	turn_clock(LONG);
	mal.segment.ranks[1].waiting_since = offered ? mal.region_begin : 0;
	mal_region_end(where);
}

static void run(const void *where, unsigned int clause, bool offered)
{
	begin(where, clause);
	end(where, offered);
}

/* A region that others wait for is opened with twice as many threads. */
static void widen(const void *where)
{
	for (int i = 0; i < 10; i++)
		run(where, NONE, true);
	begin(where, NONE);
	assert_int_equal(mal.team, 4);
	assert_int_equal(placed, 4);
	end(where, true);
}

/*
 * The last region was widened to four; we would choose two for the next one, which has
 * num_threads(4).
 */
static void larger_than_chosen(void **state)
{
	static const char widened, clause;

	(void)state;
	widen(&widened);
	begin(&clause, 4);
	assert_int_equal(mal.running, 4);
	assert_int_equal(placed, 4);
	assert_int_equal(mal.slot->team, 4);
	/* The threads share CPUs: ranks that wait may help. */
	assert_true(mal.stacked);
	assert_true(mal_wants_cpus_is_open(&mal.segment, 0));
	end(&clause, true);
}

/*
 * Two threads with a CPU each, as without us, though four would share: not both on the first CPU.
 */
static void smaller_than_chosen(void **state)
{
	static const char clause, other;

	(void)state;
	for (int i = 0; i < 10; i++) {
		begin(&clause, 2);
		assert_int_equal(mal.running, 2);
		assert_int_equal(placed, 2);
		assert_int_equal(mal.slot->team, 2);
		assert_false(mal.stacked);
		end(&clause, true);
		run(&other, NONE, false);
		assert_int_equal(mal.team, 2);
	}
	/* Now it is known, and no thread is sent to a place and back. */
	max_placed = 0;
	run(&clause, 2, true);
	assert_in_range(max_placed, 0, 2);
}

/* Coarse clocks do not see a short run: what is known of the region stays a number. */
static void of_no_length(void **state)
{
	static const char where;

	(void)state;
	run(&where, NONE, true);
	turn_clock(LONG);
	begin(&where, NONE);
	mal_region_end(&where);
	widen(&where);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(larger_than_chosen, set_up, tear_down),
		cmocka_unit_test_setup_teardown(smaller_than_chosen, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_no_length, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

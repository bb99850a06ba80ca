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
#include "libmalleable/rank/prove.h"
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

/* What was proved: where free regions begin. */
static const void *proved;

bool mal_prove_is_free(const void *where)
{
	return where == proved;
}

static const void *counting;

bool mal_prove_counts(const void *where)
{
	return where == counting;
}

static const void *said;

void mal_prove_say_bound(const void *where)
{
	said = where;
}

bool mal_team_may_differ(void)
{
	return !mal.proofs.on || mal_prove_any_team();
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

/* Where regions were classified, a bound one has the known team whatever others wait. */
static void proofs(void **state)
{
	static const char bound, is_free;

	(void)state;
	proved = &is_free;
	mal.proofs.on = true;
	widen(&is_free);
	for (int i = 0; i < 10; i++) {
		max_placed = 0;
		begin(&bound, NONE);
		assert_int_equal(mal.team, 2);
		assert_int_equal(max_placed, 2);
		assert_int_equal(mal.running, 2);
		assert_false(mal.stacked);
		end(&bound, true);
		begin(&is_free, NONE);
		assert_int_equal(mal.team, 4);
		end(&is_free, true);
	}
	/* Also while nothing may be bound, and a free one may have fewer. */
	atomic_store(&mal.segment.header->rules, 0);
	begin(&bound, NONE);
	assert_int_equal(mal.team, 2);
	end(&bound, true);
	assert_int_equal(mal.slot->count.free, 21);
	assert_int_equal(mal.slot->count.regions, 32);
	assert_int_equal(mal.proofs.free_ticks, 21 * LONG);
}

/* A program that knows no number: regions of which nothing is proved have any team too. */
static void quiet(void **state)
{
	static const char plain, counts;

	(void)state;
	proved = NULL;
	counting = &counts;
	mal.proofs.on = mal.proofs.quiet = true;
	said = NULL;
	widen(&plain);
	assert_null(said);
	begin(&counts, NONE);
	assert_int_equal(mal.team, 2);
	assert_ptr_equal(said, &counts);
	end(&counts, true);
	assert_int_equal(mal.slot->count.free, 11);
	/* Once it knows one, they keep it. */
	mal.reported = 2;
	begin(&plain, NONE);
	assert_int_equal(mal.team, 2);
	assert_ptr_equal(said, &plain);
	end(&plain, true);
	assert_int_equal(mal.slot->count.free, 11);
}

/* Told 2 on one CPU: free regions have one thread until others wait, bound ones two. */
static void raised(void **state)
{
	static const char bound, is_free;

	(void)state;
	close_node();
	open_node(RANKS, 1, THREADS);
	proved = &is_free;
	mal.proofs.on = mal.proofs.raised = true;
	mal.base = 2;
	mal.team = 1;
	begin(&is_free, NONE);
	assert_int_equal(mal.team, 1);
	end(&is_free, false);
	begin(&bound, NONE);
	assert_int_equal(mal.team, 2);
	assert_true(mal.stacked);
	end(&bound, false);
	begin(&is_free, NONE);
	assert_int_equal(mal.team, 1);
	end(&is_free, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(larger_than_chosen, set_up, tear_down),
		cmocka_unit_test_setup_teardown(smaller_than_chosen, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_no_length, set_up, tear_down),
		cmocka_unit_test_setup_teardown(proofs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(quiet, set_up, tear_down),
		cmocka_unit_test_setup_teardown(raised, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_region.c: the number of threads that a region is prepared for, where a num_threads clause
 * looks like the runtime's own choice, and where CPUs come while it runs.
 */
#include "t/unit/region_rig.h"

#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/wait.h"

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
	assert_int_equal(mal.region.running, 4);
	assert_int_equal(placed, 4);
	assert_int_equal(mal.slot->team, 4);
	/* The threads share CPUs: ranks that wait may help. */
	assert_true(mal.region.oversubscribed);
	assert_true(asks(0));
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
		assert_int_equal(mal.region.running, 2);
		assert_int_equal(placed, 2);
		assert_int_equal(mal.slot->team, 2);
		assert_false(mal.region.oversubscribed);
		end(&clause, true);
		run(&other, NONE, false);
		assert_int_equal(mal.team.size, 2);
	}
	/* Now it is known, and no thread is sent to a place and back. */
	max_placed = 0;
	run(&clause, 2, true);
	assert_in_range(max_placed, 0, 2);
}

static unsigned int followed;

void mal_phase_follow_plan(struct mal_rank *rank)
{
	rank->cpus_own.seen_plan = rank->segment.header->plan;
	followed++;
}

/* A plan that came is carried out before a region whose team we choose, and then it is done. */
static void plans_are_followed_before_a_region(void **state)
{
	static const char where;

	(void)state;
	followed = 0;
	run(&where, NONE, false);
	assert_int_equal(followed, 0);
	mal.segment.header->plan++;
	run(&where, 4, false);
	assert_int_equal(followed, 0);
	for (unsigned int i = 0; i < 2; i++) {
		run(&where, NONE, false);
		assert_int_equal(followed, 1);
	}
}

/* Of short regions one of some is timed, and counts for all of them. */
static void short_regions_count_whole(void **state)
{
	static const char where;
	unsigned int weights = 0, timed = 0;

	(void)state;
	begin(&where, NONE);
	end_after(&where, 2 * US, false);
	for (unsigned int i = 0; i < 64; i++) {
		begin(&where, NONE);
		weights += mal.region.weight;
		timed += mal.region.weight != 0;
		end_after(&where, 2 * US, false);
	}
	assert_int_equal(weights, 64);
	assert_in_range(timed, 1, 32);
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
	/* Its typical length has to grow from nothing. */
	for (int i = 0; i < 20; i++)
		run(&where, NONE, false);
	widen(&where);
}

/* Where regions were classified, a bound one has the known team whatever others wait. */
static void bound_regions_have_the_known_team(void **state)
{
	static const char bound, is_free;

	(void)state;
	free_one = &is_free;
	mal.proofs_own.on = true;
	widen(&is_free);
	assert_null(said);
	for (int i = 0; i < 10; i++) {
		max_placed = 0;
		begin(&bound, NONE);
		assert_int_equal(mal.team.size, 2);
		assert_int_equal(max_placed, 2);
		assert_int_equal(mal.region.running, 2);
		assert_false(mal.region.oversubscribed);
		end(&bound, true);
		begin(&is_free, NONE);
		assert_int_equal(mal.team.size, 4);
		end(&is_free, true);
	}
	assert_ptr_equal(said, &bound);
	/* Each stays what it is: no more is asked. */
	assert_int_equal(asked, 2);
	/* Also while nothing may be bound, and a free one may have fewer. */
	atomic_store(&mal.segment.header->rules, 0);
	begin(&bound, NONE);
	assert_int_equal(mal.team.size, 2);
	end(&bound, true);
	assert_int_equal(mal.slot->count.free, 12);
	assert_int_equal(mal.slot->count.regions, 23);
	assert_int_equal(mal.region.free_ticks, 12 * LONG);
}

/* Nobody needs to lend to a rank whose threads have a CPU each, and whose teams are bound. */
static void nobody_lends_to_bound_teams_with_cpus_each(void **state)
{
	static const char bound, is_free;

	(void)state;
	free_one = &is_free;
	mal.proofs_own.on = true;
	for (int i = 0; i < 2; i++)
		run(&bound, NONE, true);
	assert_false(is_borrower(0));
	run(&is_free, NONE, true);
	assert_true(is_borrower(0));
	/* Two threads on a CPU: one of them could run elsewhere. */
	mal_borrower_set(&mal.segment, 0, false);
	mal.cpus_own.owned_count = 1;
	run(&bound, NONE, true);
	assert_true(is_borrower(0));
}

/* A program that was told no number all the same: a region may rely on two threads at once. */
static void bound_region_may_rely_on_two_threads(void **state)
{
	static const char bound;

	(void)state;
	mal.proofs_own.on = true;
	mal.cpus_own.owned_count = 1;
	for (int i = 0; i < 10; i++) {
		begin(&bound, NONE);
		assert_int_equal(mal.team.size, 2);
		assert_int_equal(mal.region.running, 2);
		end(&bound, true);
	}
	assert_int_equal(mal.slot->count.free, 0);
}

/* An object was unloaded, and another one is where it was. */
static void successor_of_an_unloaded_object_is_unknown(void **state)
{
	static const char region;

	(void)state;
	free_one = passing_one = &region;
	mal.proofs_own.on = true;
	widen(&region);
	assert_int_equal(asked, 2);
	free_one = NULL;
	begin(&region, NONE);
	assert_int_equal(mal.team.size, 2);
	end(&region, true);
	passing_one = NULL;
	free_one = &region;
	begin(&region, NONE);
	assert_int_equal(mal.team.size, 4);
	end(&region, true);
	assert_int_equal(asked, 4);
	run(&region, NONE, true);
	assert_int_equal(asked, 4);
}

/* An if clause leaves one thread, once: that is not the region's number. */
static void an_if_clause_is_not_the_regions_number(void **state)
{
	static const char is_free, bound, other;

	(void)state;
	free_one = &is_free;
	mal.proofs_own.on = true;
	widen(&is_free);
	for (int i = 0; i < 2; i++) {
		begin(&is_free, 1);
		assert_int_equal(mal.region.running, 1);
		end(&is_free, true);
		/* The team was chosen with one thread: the clause shows afterwards. */
		mal_region_begin(&is_free, mal.team.size);
		mal_region_resized(&mal, 1);
		end(&is_free, true);
		run(&bound, NONE, true);
		assert_int_equal(mal.team.size, 2);
		begin(&is_free, NONE);
		assert_int_equal(mal.region.running, 4);
		end(&is_free, true);
	}
	/* Where the runtime runs it without a call, nothing is known, and nothing limits it. */
	said = NULL;
	begin(&other, 1);
	end(&other, true);
	assert_null(said);
	begin(&other, NONE);
	assert_ptr_equal(said, &other);
	end(&other, true);
}

/* Told 2 on one CPU: free regions have one thread until others wait, bound ones two. */
static void told_two_threads(void **state)
{
	static const char bound, is_free;

	(void)state;
	close_ranks();
	open_ranks(RANKS, 1, THREADS);
	free_one = &is_free;
	mal.proofs_own.on = mal.team_own.reported_two = true;
	mal.team_own.base = 2;
	mal.team_own.size = 1;
	begin(&is_free, NONE);
	assert_int_equal(mal.team.size, 1);
	end(&is_free, false);
	begin(&bound, NONE);
	assert_int_equal(mal.team.size, 2);
	assert_true(mal.region.oversubscribed);
	end(&bound, false);
	begin(&is_free, NONE);
	assert_int_equal(mal.team.size, 1);
	end(&is_free, false);
}

/*
 * A free region whose results could differ has the team that it has without us, also where the
 * program is told another number; nobody is asked for CPUs for it.
 */
static void kept_regions_have_the_team_without_us(void **state)
{
	static const char sums, bound;

	(void)state;
	close_ranks();
	open_ranks(RANKS, 1, THREADS);
	free_one = &sums;
	facts = MAL_REGION_SUMS;
	mal.proofs_own.on = mal.team_own.reported_two = true;
	mal.team_own.keeps = MAL_REGION_SUMS;
	mal.team_own.base = 2;
	mal.team_own.own = mal.team_own.size = 1;
	for (int i = 0; i < 3; i++) {
		begin(&sums, NONE);
		assert_int_equal(mal.team.size, 1);
		assert_true(mal.region.kept);
		end(&sums, true);
		assert_false(mal.slot->differs);
		begin(&bound, NONE);
		assert_int_equal(mal.team.size, 2);
		assert_false(mal.region.kept);
		end(&bound, false);
		atomic_store(&mal.slot->differs, 0);
	}
	assert_int_equal(mal.slot->count.kept, 3);
	assert_int_equal(mal.slot->count.free, 0);
	assert_int_equal(mal.region.free_ticks, 0);
	/* Another fact keeps it no more than the user's word does. */
	mal_region_table_clear();
	facts = MAL_REGION_ALONE;
	mal.region_own.current = NULL;
	run(&sums, NONE, true);
	run(&sums, NONE, true);
	begin(&sums, NONE);
	assert_int_equal(mal.team.size, 2);
	assert_int_equal(mal.slot->differs, MAL_DIFFERS_ONE);
	end(&sums, true);
}

/* Others ran once and are long gone: the loop that has the time has a place. */
static void long_loop_has_a_place_after_many_regions(void **state)
{
	static const char once[1536], hot, warm;

	(void)state;
	for (size_t i = 0; i < sizeof(once); i++)
		run(&once[i], NONE, false);
	widen(&hot);
	for (size_t i = 0; i < sizeof(once); i++) {
		run(&once[i], NONE, false);
		if (i % 8 == 0)
			run(&hot, NONE, true);
	}
	begin(&hot, NONE);
	assert_int_equal(mal.team.size, 4);
	end(&hot, true);
	widen(&warm);
}

/* In a full table too, a region is found where it was put. */
static void is_found_again(void **state)
{
	static const char many[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(many); i++) {
		struct mal_region *entry = mal_region_find(&many[i]);

		entry->heat = 100;
		assert_ptr_equal(mal_region_find(&many[i]), entry);
	}
}

/* The region that is open ends after TICKS, with both CPUs of rank 1, which waits from FROM on. */
static void end_granted(const void *where, uint64_t ticks, uint64_t from)
{
	/* Whatever is written there, a team of four uses no more. */
	mal_request_own(&mal.segment, 0)->word |= (union mal_request){.cpus = 0xfff}.word;
	turn_clock(ticks);
	mal.segment.ranks[1].waiting_since = mal.region.begin + from;
	mal_region_end(where);
}

/* CPUs that come while a region runs shorten it: the next run, without them, has as much work. */
static void granted_while_it_runs(void **state)
{
	static const char region;

	(void)state;
	widen(&region);
	for (int i = 0; i < 40; i++) {
		begin(&region, NONE);
		assert_int_equal(mal.team.size, 4);
		end(&region, false);
		begin(&region, NONE);
		assert_int_equal(mal.team.size, 4);
		/* None is alone. */
		mal.region.current->left = 4;
		end_granted(&region, LONG / 2 + 2 * MS, 1);
		assert_in_range(mal.region.current->work, 1.9 * LONG, 2.1 * LONG);
	}
	/* They may also come as it is over. */
	begin(&region, NONE);
	end_granted(&region, LONG, LONG - 1);
	assert_in_range(mal.region.current->work, 1.9 * LONG, 2.1 * LONG);
	begin(&region, NONE);
	assert_int_equal(mal.team.size, 4);
	end(&region, true);
}

/* A region that became short gets no more threads than CPUs, though CPUs come late in each run. */
static void shorter_while_granted(void **state)
{
	static const char region;
	unsigned int wide = 0;

	(void)state;
	for (int i = 0; i < 21; i++) {
		begin(&region, NONE);
		end_after(&region, 15 * MS, true);
	}
	for (int i = 0; i < 200; i++) {
		begin(&region, NONE);
		wide += mal.team.size == 4;
		if (mal.team.size == 4)
			end_granted(&region, 1350 * US, 1200 * US);
		else
			end_after(&region, 1500 * US, false);
	}
	assert_in_range(wide, 1, 10);
}

/* No CPU can be granted to a region that begins in a pause of lending. */
static void begins_in_a_pause(void **state)
{
	static const char first, region;

	(void)state;
	begin(&first, THREADS);
	end_granted(&first, LONG, 1);
	mal.segment.header->rules &= ~(uint32_t)MAL_RULE_LEND;
	begin(&region, THREADS);
	mal.segment.header->rules |= MAL_RULE_LEND;
	end(&region, true);
	assert_in_range(mal.region.current->work, 1.9 * LONG, 2.1 * LONG);
}

static unsigned int waits_ended;

void mal_mpi_unwound(void)
{
	waits_ended++;
	mal_self.mpi_depth = 0;
	turn_clock(US);
	mal.primary_own.last_leave = mal_ticks();
}

/* A wait that the program declared, and did not end, ends where a region begins. */
static void ends_a_declared_wait(void **state)
{
	static const char where;
	uint64_t serial;

	(void)state;
	waits_ended = 0;
	mal_self.mpi_depth = 1;
	mal_self.declared = 1;
	serial = mal.slot->count.serial;
	begin(&where, NONE);
	assert_int_equal(waits_ended, 1);
	assert_int_equal(mal.slot->count.serial, serial);
	end(&where, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(larger_than_chosen, open_all, close_all),
		cmocka_unit_test_setup_teardown(smaller_than_chosen, open_all, close_all),
		cmocka_unit_test_setup_teardown(plans_are_followed_before_a_region, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(short_regions_count_whole, open_all, close_all),
		cmocka_unit_test_setup_teardown(of_no_length, open_all, close_all),
		cmocka_unit_test_setup_teardown(bound_regions_have_the_known_team, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(nobody_lends_to_bound_teams_with_cpus_each,
						open_all, close_all),
		cmocka_unit_test_setup_teardown(bound_region_may_rely_on_two_threads, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(successor_of_an_unloaded_object_is_unknown,
						open_all, close_all),
		cmocka_unit_test_setup_teardown(an_if_clause_is_not_the_regions_number, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(told_two_threads, open_all, close_all),
		cmocka_unit_test_setup_teardown(kept_regions_have_the_team_without_us, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(is_found_again, open_all, close_all),
		cmocka_unit_test_setup_teardown(long_loop_has_a_place_after_many_regions, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(granted_while_it_runs, open_all, close_all),
		cmocka_unit_test_setup_teardown(shorter_while_granted, open_all, close_all),
		cmocka_unit_test_setup_teardown(begins_in_a_pause, open_all, close_all),
		cmocka_unit_test_setup_teardown(ends_a_declared_wait, open_all, close_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

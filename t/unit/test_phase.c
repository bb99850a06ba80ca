/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_phase.c: at which boundaries a rank gives samples. */
#include "t/unit/rank_fixture.h"

#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/outside.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/team.h"

static struct mal_header *header;

static int set_up(void **state)
{
	(void)state;
	open_ranks(2, 1, 1);
	memset(&mal.phase_own, 0, sizeof(mal.phase));
	header = mal.segment.header;
	header->rules = MAL_RULE_READY;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_ranks();
	return 0;
}

/* The controller begins a round, with a window of STRIDE boundaries of KIND. */
static void begin_round(enum mal_boundary_kind kind, uint64_t stride)
{
	header->kind = kind;
	header->sample_at = mal.slot->count.boundaries[kind] + stride;
	header->sample_after = test_clock.now + 50 * MS;
	header->round++;
}

static bool says_sample(enum mal_boundary_kind kind)
{
	mal_phase_boundary(kind);
	return mal.phase.sampled_round == header->round;
}

/* Where ranks meet their count tells, and no boundary of another kind. */
static void by_the_count(void **state)
{
	struct mal_snapshot said;

	(void)state;
	begin_round(MAL_BOUNDARY_COLLECTIVE, 3);
	turn_clock(60 * MS);
	assert_false(says_sample(MAL_BOUNDARY_COLLECTIVE));
	assert_false(says_sample(MAL_BOUNDARY_COLLECTIVE));
	for (int i = 0; i < 5; i++) {
		assert_false(says_sample(MAL_BOUNDARY_CALL));
		assert_false(says_sample(MAL_BOUNDARY_PERIOD));
		assert_false(says_sample(MAL_BOUNDARY_MARK));
	}
	assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
	assert_true(mal_snapshot_read(mal.slot, &said));
	assert_int_equal(said.kind, MAL_BOUNDARY_COLLECTIVE);
	assert_int_equal(said.boundaries[MAL_BOUNDARY_COLLECTIVE], 3);
	assert_int_equal(said.boundaries[MAL_BOUNDARY_MARK], 5);
	begin_round(MAL_BOUNDARY_MARK, 1);
	assert_false(says_sample(MAL_BOUNDARY_COLLECTIVE));
	assert_true(says_sample(MAL_BOUNDARY_MARK));
}

/* Where they do not meet the clock tells, at boundaries of any kind that is not weaker. */
static void by_the_clock(void **state)
{
	static const enum mal_boundary_kind stronger[] = {
		MAL_BOUNDARY_CALL, MAL_BOUNDARY_PERIOD, MAL_BOUNDARY_COLLECTIVE, MAL_BOUNDARY_MARK};

	(void)state;
	for (int chosen = 0; chosen < 2; chosen++)
		for (int i = 0; i < 4; i++) {
			begin_round(stronger[chosen], 1);
			assert_false(says_sample(stronger[i]));
			turn_clock(60 * MS);
			assert_int_equal(says_sample(stronger[i]), i >= chosen);
		}
}

/* Inside a region is no boundary. */
static void no_boundary_inside_a_region(void **state)
{
	(void)state;
	begin_round(MAL_BOUNDARY_MARK, 1);
	mal.region_own.depth = 1;
	assert_false(says_sample(MAL_BOUNDARY_MARK));
	assert_int_equal(mal.slot->count.boundaries[MAL_BOUNDARY_MARK], 0);
	mal.region_own.depth = 0;
	assert_true(says_sample(MAL_BOUNDARY_MARK));
}

/* Nobody looks for regions that repeat while ranks meet. */
static void regions_that_repeat(void **state)
{
	static const char where[2];

	(void)state;
	begin_round(MAL_BOUNDARY_COLLECTIVE, 1);
	for (int i = 0; i < 100; i++)
		mal_phase_region(&where[i % 2]);
	assert_int_equal(mal.slot->count.boundaries[MAL_BOUNDARY_PERIOD], 0);
	for (int kind = MAL_BOUNDARY_CALL; kind <= MAL_BOUNDARY_PERIOD; kind++) {
		uint64_t before = mal.slot->count.boundaries[MAL_BOUNDARY_PERIOD];

		begin_round(kind, 1);
		for (int i = 0; i < 100; i++)
			mal_phase_region(&where[i % 2]);
		assert_true(mal.slot->count.boundaries[MAL_BOUNDARY_PERIOD] > before + 40);
	}
}

unsigned int mal_team_max(const struct mal_rank *rank)
{
	(void)rank;
	return 3;
}

/* It has a test of its own: what it adds is sent. */
void mal_outside_sample(struct mal_rank *rank, struct mal_snapshot *snapshot)
{
	(void)rank;
	snapshot->waits = 7 * MS;
}

/* By the kernel's clocks: what threads outside the team used, and how many CPUs are of use. */
static void what_the_controller_checks_by(void **state)
{
	struct mal_snapshot said;

	(void)state;
	test_clock.process = 50 * MS;
	test_clock.thread = 30 * MS;
	put_thread(0, 0, 0);
	begin_round(MAL_BOUNDARY_MARK, 1);
	assert_true(says_sample(MAL_BOUNDARY_MARK));
	assert_true(mal_snapshot_read(mal.slot, &said));
	assert_in_range(said.cpu, 50 * MS - 1, 50 * MS + 1);
	assert_in_range(said.outside_team, 20 * MS - 1, 20 * MS + 1);
	assert_int_equal(said.max, 3);
	assert_int_equal(said.waits, 7 * MS);
}

static unsigned int followed;
static bool comes;

void mal_team_follow(struct mal_rank *rank, unsigned int cpus)
{
	(void)rank;
	(void)cpus;
	followed++;
}

void mal_cpus_apply_plan(struct mal_rank *rank)
{
	rank->cpus_own.seen_plan = header->plan;
}

bool mal_cpus_refresh(struct mal_rank *rank)
{
	(void)rank;
	return comes;
}

/* The controller, while the rank sleeps. */
static void answer(void)
{
	header->plan++;
	header->answers++;
}

/* The team follows the plan that answers a sample, and CPUs that come by it. */
static void answers_are_followed(void **state)
{
	(void)state;
	header->rules |= MAL_RULE_AWAIT | MAL_RULE_BIND;
	begin_round(MAL_BOUNDARY_COLLECTIVE, 1);
	assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
	give_way = answer;
	for (int with_cpus = 0; with_cpus < 2; with_cpus++) {
		turn_clock(60 * MS);
		comes = with_cpus;
		followed = 0;
		begin_round(MAL_BOUNDARY_COLLECTIVE, 1);
		assert_true(says_sample(MAL_BOUNDARY_COLLECTIVE));
		assert_int_equal(header->awaiting, 0);
		assert_int_equal(mal.phase.missed, 0);
		assert_int_equal(followed, 1 + with_cpus);
	}
	give_way = NULL;
	/* Not where the program wants none. */
	mal.bounds_own.disabled = 1;
	followed = 0;
	mal_phase_follow_plan(&mal);
	assert_int_equal(followed, 0);
}

/* What a rank did since its last sample is told as it ends, and answers no round. */
static void ends(void **state)
{
	struct mal_snapshot said, last;

	(void)state;
	mal_self.primary = true;
	begin_round(MAL_BOUNDARY_MARK, 1);
	assert_true(says_sample(MAL_BOUNDARY_MARK));
	assert_true(mal_snapshot_read(mal.slot, &said));
	turn_clock(7 * MS);
	mal.bounds_own.limit = 1;
	mal.region_own.depth = 1;
	mal_phase_end(&mal);
	assert_true(mal_snapshot_read(mal.slot, &last));
	assert_memory_equal(&last, &said, sizeof(said));
	mal.region_own.depth = 0;
	mal_phase_end(&mal);
	assert_true(mal_snapshot_read(mal.slot, &last));
	assert_int_equal(last.serial - said.serial, mal_s_to_ticks(7e-3));
	assert_int_equal(last.max, 1);
	assert_int_equal(last.round, said.round);
	assert_int_equal(last.kind, MAL_BOUNDARY_MARK);
	assert_int_equal(header->arrivals, 1);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(by_the_count),
		CASE(by_the_clock),
		CASE(no_boundary_inside_a_region),
		CASE(regions_that_repeat),
		CASE(what_the_controller_checks_by),
		CASE(answers_are_followed),
		CASE(ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_cores.c: the timed node's cores: turns, ends that are foretold, moves and what they cost. */
#include "t/unit/unit.h"

#include <stdlib.h>

#include "t/node/cores.h"

#define MS UINT64_C(1000000)
#define MAX_TIDS 16

static struct node_table *table;

/* Four cores: two L3 of two, on two sockets; process 1, of which all threads may use core 0. */
static int set_up(void **state)
{
	(void)state;
	table = calloc(1, sizeof(*table) + MAX_TIDS * sizeof(table->thread[0]));
	assert_non_null(table);
	table->cores = 4;
	table->threads = MAX_TIDS;
	table->slice = 3 * MS;
	table->slow = 1;
	for (unsigned int i = 0; i < 4; i++) {
		table->core[i].l3 = table->core[i].socket = table->core[i].numa = i / 2;
	}
	for (uint32_t tid = 1; tid < MAX_TIDS; tid++) {
		table->thread[tid].process = 1;
		table->thread[tid].mask.word[0] = 1;
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(table);
	return 0;
}

static void move(uint32_t tid, uint64_t cores, uint64_t now)
{
	table->thread[tid].mask.word[0] = cores;
	node_move(table, tid, now);
}

static void thread_alone_is_never_held_up(void **state)
{
	(void)state;
	assert_int_equal(node_begin(table, 1, 50 * MS, 7 * MS), 7 * MS);
	assert_int_equal(node_end(table, 1), 57 * MS);
	node_count(table, 0, 27 * MS);
	assert_int_equal(table->thread[1].worked, 20 * MS);
	assert_true(table->thread[1].working);
	node_count(table, 0, 60 * MS);
	assert_false(table->thread[1].working);
	assert_int_equal(table->thread[1].ended, 57 * MS);
	assert_int_equal(table->thread[1].worked, 50 * MS);
	assert_int_equal(table->thread[1].place, 1);
}

static void cores_are_used_in_turns(void **state)
{
	(void)state;
	node_begin(table, 1, 5 * MS, 0);
	node_begin(table, 2, 5 * MS, 1 * MS);
	assert_int_equal(node_end(table, 1), 8 * MS);
	assert_int_equal(node_end(table, 2), 10 * MS);
	node_count(table, 0, 4 * MS);
	assert_int_equal(table->thread[1].worked, 3 * MS);
	assert_int_equal(table->thread[2].worked, 1 * MS);
	node_count(table, 0, 20 * MS);
	assert_int_equal(table->thread[1].ended, 8 * MS);
	assert_int_equal(table->thread[2].ended, 10 * MS);
	assert_int_equal(table->thread[1].all_worked, 10 * MS);
}

/* One that has been alone for long has no more than the rest of a turn. */
static void newcomer_gets_the_rest_of_a_turn(void **state)
{
	(void)state;
	node_begin(table, 1, 100 * MS, 0);
	node_begin(table, 2, 1 * MS, 31 * MS);
	assert_int_equal(node_end(table, 2), 34 * MS);
	assert_int_equal(node_end(table, 1), 101 * MS);
}

/* Begins within its turn a little after its last work was done: it has not left the core. */
static void short_pauses_keep_the_turn(void **state)
{
	(void)state;
	node_begin(table, 1, 1 * MS, 0);
	node_begin(table, 2, 9 * MS, 0);
	node_count(table, 0, 1 * MS);
	assert_int_equal(node_begin(table, 1, 1 * MS, 1 * MS + 1000), 1 * MS + 1000);
	assert_int_equal(node_end(table, 1), 2 * MS + 1000);
	node_count(table, 0, 2 * MS + 1000);
	/* Later it comes after the other's turn, of which that has had 0.001 ms. */
	node_begin(table, 1, 1 * MS, 2 * MS + 2000 + NODE_STAYS_NS);
	assert_int_equal(node_end(table, 1), 2 * MS + 1000 + 3 * MS - 1000 + 1 * MS);
}

/* One that woke up late begins when its last work was done, if nobody had the core since. */
static void late_wake_ups_count_from_the_last_work(void **state)
{
	(void)state;
	node_begin(table, 1, 1 * MS, 0);
	node_count(table, 0, 1 * MS);
	assert_int_equal(node_begin(table, 1, 1 * MS, 1 * MS), 1 * MS);
	node_begin(table, 2, 2 * MS, 1 * MS + 500000);
	node_count(table, 0, 4 * MS);
	assert_int_equal(table->thread[2].ended, 4 * MS);
	assert_int_equal(node_begin(table, 1, 1 * MS, 3 * MS), 4 * MS);
}

static void moved_thread_works_on_there(void **state)
{
	uint32_t bells[3];

	(void)state;
	node_begin(table, 1, 10 * MS, 0);
	node_begin(table, 2, 10 * MS, 0);
	for (int i = 1; i < 3; i++)
		bells[i] = table->thread[i].bell;
	move(1, 1 << 1, 2 * MS);
	assert_int_equal(table->thread[1].core, 2);
	assert_int_equal(table->thread[1].place, 2);
	assert_int_equal(node_end(table, 1), 10 * MS);
	assert_int_equal(node_end(table, 2), 12 * MS);
	for (int i = 1; i < 3; i++)
		assert_int_not_equal(table->thread[i].bell, bells[i]);
	/* It may use its core still: nothing happens. */
	move(1, 3 << 1, 3 * MS);
	assert_int_equal(table->thread[1].core, 2);
	/* It does not work: it is there now. */
	node_count(table, 1, 10 * MS);
	move(1, 1 << 3, 11 * MS);
	assert_int_equal(table->thread[1].place, 4);
}

static void killed_thread_leaves_its_core(void **state)
{
	(void)state;
	node_begin(table, 1, 10 * MS, 0);
	node_begin(table, 2, 10 * MS, 0);
	node_drop(table, 1, 1 * MS);
	assert_int_equal(node_end(table, 2), 11 * MS);
	assert_int_equal(table->thread[1].worked, 1 * MS);
}

/* Threads that may use all cores take idle ones; with a thread too many, one that waits goes on. */
static void idle_cores_are_taken_first(void **state)
{
	(void)state;
	for (uint32_t tid = 1; tid <= 5; tid++) {
		table->thread[tid].mask.word[0] = 15;
		node_begin(table, tid, (tid == 3 ? 4 : 20) * MS, 0);
	}
	for (uint32_t tid = 1; tid <= 4; tid++)
		assert_int_equal(table->thread[tid].core, tid);
	assert_int_equal(table->thread[5].core, 1);
	node_balance(table, 5, 4 * MS);
	assert_int_equal(table->thread[5].core, 1);
	/* Until then core 2's thread may have gone on. */
	node_balance(table, 5, 4 * MS + NODE_STAYS_NS);
	assert_int_equal(table->thread[5].core, 3);
	assert_int_equal(node_end(table, 1), 21 * MS + NODE_STAYS_NS);
}

static void moving_costs_by_distance(void **state)
{
	(void)state;
	table->cold[0] = 1 * MS;
	table->cold[1] = 2 * MS;
	table->cold[2] = 4 * MS;
	table->core[1].l3 = 7;
	node_begin(table, 1, 10 * MS, 0);
	assert_int_equal(node_end(table, 1), 10 * MS);
	move(1, 1 << 1, 5 * MS);
	assert_int_equal(node_end(table, 1), 12 * MS);
	move(1, 1 << 2, 6 * MS);
	assert_int_equal(node_end(table, 1), 16 * MS);
	move(1, 1 << 3, 7 * MS);
	assert_int_equal(node_end(table, 1), 17 * MS);
	node_count(table, 3, 17 * MS);
	node_begin(table, 1, 10 * MS, 30 * MS);
	assert_int_equal(node_end(table, 1), 40 * MS);
}

/* The first thread's core is where the process's memory is, whoever works first. */
static void core_at_the_memory_is_faster(void **state)
{
	(void)state;
	table->slow = 1.5;
	move(1, 1, 0);
	move(2, 1 << 2, 0);
	node_begin(table, 2, 10 * MS, 0);
	assert_int_equal(node_end(table, 2), 15 * MS);
	move(2, 1, 3 * MS);
	assert_int_equal(node_end(table, 2), 11 * MS);
	node_begin(table, 1, 10 * MS, 50 * MS);
	assert_int_equal(node_end(table, 1), 60 * MS);
}

/* Whoever is there, and however much each has had of its turn, ends are as foretold. */
static void ends_are_as_foretold(void **state)
{
	uint64_t ends[6];

	(void)state;
	srand(1);
	for (int round = 0; round < 200; round++) {
		uint64_t begin = table->core[0].at + 5 * MS;

		for (uint32_t tid = 1; tid <= 5; tid++)
			node_begin(table, tid, 1 + (uint64_t)rand() % (20 * MS),
				   begin += (uint64_t)rand() % (2 * MS));
		for (uint32_t tid = 1; tid <= 5; tid++)
			ends[tid] = table->thread[tid].working ? node_end(table, tid)
							       : table->thread[tid].ended;
		node_count(table, 0, begin + 200 * MS);
		for (uint32_t tid = 1; tid <= 5; tid++)
			assert_int_equal(table->thread[tid].ended, ends[tid]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(thread_alone_is_never_held_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cores_are_used_in_turns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(newcomer_gets_the_rest_of_a_turn, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(short_pauses_keep_the_turn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(late_wake_ups_count_from_the_last_work, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(moved_thread_works_on_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(killed_thread_leaves_its_core, set_up, tear_down),
		cmocka_unit_test_setup_teardown(idle_cores_are_taken_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(moving_costs_by_distance, set_up, tear_down),
		cmocka_unit_test_setup_teardown(core_at_the_memory_is_faster, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_are_as_foretold, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

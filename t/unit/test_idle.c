/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_idle.c: CPUs that come and go: idle ones of the job, and those that are left. */
#include "t/unit/node_controller.h"

#include <stdio.h>
#include <unistd.h>

#include "libmalleable/controller/admin_switch.h"
#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/ranks.h"

static struct mal_controller *node;

/* Two ranks of two CPUs, and CPUs 4 to 7 that the step may have too. */
static int set_up(void **state)
{
	(void)state;
	node = node_start(2, 2, "--policy=lewi --idle=4-7");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	node_close(node);
	return 0;
}

/* Idle CPUs go to those with fewest that can use more. */
static void idle_cpus_go_to_ranks_with_fewest(void **state)
{
	(void)state;
	node_set_cpu(4, 1, 1, false);
	mal_idle_hand_out(node);
	node_obey();
	assert_string_equal(node_owned(0), "0-1,5-6");
	assert_string_equal(node_owned(1), "2-4,7");
	assert_true(node_slot(0)->changes > 0);
	assert_null(node_wrong(node));
}

/* A plan is made and checked by what was there when the window ended, idle CPUs or not. */
static void plans_know_one_moment(void **state)
{
	(void)state;
	node_close(node);
	node = node_start(2, 2, "--policy=random --idle=4-7");
	for (int i = 0; i < 4; i++) {
		node_window(node, 1, (double[]){0.5, 0.5});
		node_obey();
		assert_null(node_rejected(node));
		assert_null(node_wrong(node));
	}
	assert_int_equal(node_plans(node), 3);
	for (unsigned int cpu = 4; cpu < 8; cpu++)
		assert_true(node_cpu(cpu).owner < 2);
}

/* A rank that was told a number of threads can use no more; where none can, they stay nobody's. */
static void handed_out_to_whom_they_help(void **state)
{
	struct mal_snapshot said;

	(void)state;
	node_begin(node);
	for (unsigned int i = 0; i < 2; i++) {
		node_pass(1);
		node_say(1, 1, 0, 0);
		node_say(0, 1, 0, 0);
		said = node_said(0);
		said.max = 2;
		node_lie(0, &said);
		if (i == 0)
			node_set_cpu(4, MAL_NOBODY, MAL_NOBODY, false);
		node_take(node);
	}
	for (unsigned int cpu = 4; cpu < 8; cpu++)
		mal_evict_withdraw(node, "4-7", NULL);
	assert_int_equal(mal_idle_offer(node, "4-7", NULL), 0);
	assert_string_equal(node_owned(0), "0-1");
	assert_string_equal(node_owned(1), "2-7");
}

/* Home first: to the rank that Slurm gave it to, if it runs. */
static void handed_out_home(void **state)
{
	(void)state;
	node_set_cpu(3, MAL_NOBODY, MAL_NOBODY, false);
	assert_int_equal(mal_home_of(node, 3), 1);
	assert_int_equal(mal_home_of(node, 4), 2);
	assert_int_equal(mal_idle_offer(node, "3", NULL), 0);
	assert_int_equal(node_cpu(3).owner, 1);
}

/* A program that comes to CPUs that are another rank's by now gets one of them back at once. */
static void a_newcomer_is_helped(void **state)
{
	(void)state;
	node_rank_kill(0);
	assert_true(mal_ranks_update(node));
	node_set_cpu(0, 1, 1, false);
	node_set_cpu(1, 1, 1, false);
	node_thread(1, 1)->cpu = 0;
	node_set_cpu(4, 1, 1, false);
	node_set_cpu(5, 1, 1, false);
	node_set_cpu(6, 1, 1, false);
	node_set_cpu(7, 1, 1, false);
	node_rank_start(0);
	assert_string_equal(node_owned(0), "");
	assert_true(mal_ranks_update(node));
	assert_string_equal(node_owned(0), "0");
	assert_int_equal(node_cpu(0).user, 0);
	assert_true(node_slot(0)->changes > 0);
	assert_int_not_equal(node_thread(1, 1)->cpu, 0);
	assert_false(node_may_run(1, 1, 0));
	assert_null(node_wrong(node));
}

/*
 * A program was killed while it sent another rank's thread away, and the next one of its task is
 * there before anybody has seen it.
 */
static void successor_of_a_killed_rank_gets_its_threads_back(void **state)
{
	(void)state;
	node_rank_kill(0);
	node_thread(1, 1)->cpu = 0;
	node_rank_start(0);
	assert_true(node_rank(node, 0)->pid != node_slot(0)->pid);
	mal_ranks_update(node);
	assert_int_equal(node_thread(1, 1)->cpu, 3);
	assert_false(node_may_run(1, 1, 0));
	assert_null(node_wrong(node));
}

/* Rank 0 comes to two CPUs of which one is rank 1's only one, the other nobody's any more. */
static void come_to_a_last_cpu(void)
{
	node_rank_kill(0);
	assert_true(mal_ranks_update(node));
	for (unsigned int cpu = 0; cpu < 8; cpu++)
		node_set_cpu(cpu, MAL_NOBODY, MAL_NOBODY, false);
	node_set_cpu(0, 1, 1, false);
	node_rank_start(0);
	node_set_cpu(1, MAL_NOBODY, MAL_NOBODY, false);
	assert_true(mal_ranks_update(node));
}

static void a_newcomer_has_idle_ones_first(void **state)
{
	(void)state;
	come_to_a_last_cpu();
	assert_int_equal(node_cpu(4).owner, 0);
	assert_int_equal(node_cpu(0).owner, 1);
	assert_null(node_wrong(node));
}

static void a_newcomer_takes_no_last_cpu(void **state)
{
	(void)state;
	assert_int_equal(mal_evict_withdraw(node, "4-7", NULL), 0);
	come_to_a_last_cpu();
	assert_string_equal(node_owned(0), "");
	assert_string_equal(node_owned(1), "0");
}

/* A policy that only observes hands out nothing. */
static void not_while_observed(void **state)
{
	(void)state;
	node_close(node);
	node = node_start(2, 2, "--policy=observe --idle=4-7");
	mal_idle_hand_out(node);
	assert_int_equal(node_cpu(4).owner, MAL_NOBODY);
}

/* CPUs that are not the job's are passed over; what is no list is refused. */
static void offers_beyond_the_job_are_passed_over(void **state)
{
	struct mal_error err;

	(void)state;
	assert_int_equal(mal_evict_withdraw(node, "4-7", NULL), 0);
	assert_string_equal(node_idle(node), "");
	assert_int_equal(mal_idle_offer(node, "4,9-12,900", &err), 0);
	assert_string_equal(node_idle(node), "4");
	assert_int_equal(node_cpu(4).owner, 0);
	assert_int_equal(mal_idle_offer(node, "four", &err), -1);
	assert_int_equal(mal_evict_withdraw(node, "", &err), -1);
	assert_null(node_wrong(node));
}

/* Who used the CPU is sent away, team and all, before it is another step's. */
static void users_leave_a_withdrawn_cpu(void **state)
{
	uint32_t changes = node_slot(0)->changes;

	(void)state;
	assert_true(mal_word_lend(&node_segment()->cpus[1].word, 0));
	assert_true(mal_word_borrow(&node_segment()->cpus[1].word, 1));
	node_thread(1, 1)->cpu = 1;
	node_insist(1, 1, 1);
	node_insist(1, 1, MAL_NO_CPU);
	assert_true(node_may_run(1, 1, 1));
	node_segment()->cpus[1].target = 1;
	assert_int_equal(mal_evict_withdraw(node, "1", NULL), 0);
	assert_int_equal(node_segment()->cpus[1].target, MAL_NOBODY);
	assert_int_equal(node_cpu(1).owner, MAL_NOBODY);
	assert_int_equal(node_cpu(1).user, MAL_NOBODY);
	assert_int_not_equal(node_thread(1, 1)->cpu, 1);
	assert_int_equal(node_thread(1, 1)->bound_cpu, MAL_NO_CPU);
	for (unsigned int rank = 0; rank < 2; rank++)
		for (unsigned int i = 0; i < NODE_THREADS; i++)
			assert_false(node_may_run(rank, i, 1));
	assert_string_equal(node_leaving(node), "");
	assert_true(node_is_settling(node));
	/* Its own library is told. */
	assert_int_not_equal(node_slot(0)->changes, changes);
	assert_null(node_wrong(node));
}

/* A rank that loses its last CPU gets one of the rank that has most. */
static void rank_without_cpu_gets_one(void **state)
{
	(void)state;
	assert_int_equal(mal_evict_withdraw(node, "4-7", NULL), 0);
	assert_int_equal(mal_evict_withdraw(node, "0-1", NULL), 0);
	assert_string_equal(node_owned(0), "3");
	assert_string_equal(node_owned(1), "2");
	assert_int_equal(node_cpu(3).user, 0);
	assert_true(node_may_run(0, 2, 3) && !node_may_run(0, 2, 0));
	assert_null(node_wrong(node));
}

/* With one CPU for each there is nothing to help out with. */
static void with_one_cpu_each_nobody_gives(void **state)
{
	(void)state;
	assert_int_equal(mal_evict_withdraw(node, "1,3-7", NULL), 0);
	assert_int_equal(mal_evict_withdraw(node, "0", NULL), -1);
	assert_string_equal(node_owned(0), "");
	assert_string_equal(node_owned(1), "2");
}

/*
 * A program that binds a thread there again and again keeps the CPU from the others; that is said,
 * once the time is over.
 */
static void cpu_that_is_bound_again_is_kept(void **state)
{
	struct mal_error err;

	(void)state;
	node_insist(0, 2, 1);
	assert_int_equal(mal_evict_withdraw(node, "1", &err), -1);
	assert_string_equal(err.text, "threads are still on CPUs of 1");
	assert_string_equal(node_leaving(node), "1");
	node_pass(0.021);
	mal_evict_settle(node);
	assert_string_equal(node_kept(node), "");
	for (unsigned int i = 0; i < 60; i++) {
		node_pass(0.021);
		mal_evict_settle(node);
	}
	assert_string_equal(node_kept(node), "1");
	assert_string_equal(node_leaving(node), "1");
	assert_false(node_is_settling(node));
	/* It goes on being looked at, once a second. */
	node_insist(0, 2, MAL_NO_CPU);
	node_pass(0.5);
	mal_evict_settle(node);
	assert_string_equal(node_leaving(node), "1");
	node_pass(1);
	mal_evict_settle(node);
	assert_string_equal(node_leaving(node), "");
	assert_string_equal(node_kept(node), "1");
}

/* Nobody else has the CPU before no rank is binding threads by words that it read before. */
static void not_while_binding(void **state)
{
	(void)state;
	node_slot(1)->binding = 1;
	assert_int_equal(mal_evict_withdraw(node, "4", NULL), -1);
	assert_string_equal(node_leaving(node), "4");
	node_slot(1)->binding = 0;
	node_pass(0.03);
	mal_evict_settle(node);
	assert_string_equal(node_leaving(node), "");
}

/* One that left in order lives on, with threads; one that was killed has none. */
static void ended_ranks_may_have_threads(void **state)
{
	(void)state;
	assert_int_equal(mal_evict_withdraw(node, "4-7", NULL), 0);
	node_rank_end(0);
	mal_ranks_update(node);
	node_insist(0, 2, 1);
	assert_int_equal(mal_evict_withdraw(node, "0-1", NULL), -1);
	assert_string_equal(node_leaving(node), "1");
	node_insist(0, 2, MAL_NO_CPU);
	node_pass(0.03);
	mal_evict_settle(node);
	assert_string_equal(node_leaving(node), "");
	assert_true(node_may_run(0, 2, 2) && !node_may_run(0, 2, 1));
	node_insist(0, 1, 3);
	node_rank_kill(0);
	mal_ranks_update(node);
	assert_int_equal(mal_evict_withdraw(node, "3", NULL), 0);
}

/* Where the threads cannot be seen nothing is known of them. */
static void not_while_blind(void **state)
{
	(void)state;
	node_set_blind(true);
	assert_int_equal(mal_evict_withdraw(node, "1", NULL), -1);
	assert_string_equal(node_leaving(node), "1");
	node_set_blind(false);
	node_pass(0.03);
	mal_evict_settle(node);
	assert_string_equal(node_leaving(node), "");
}

/* Switched off: ranks leave what Slurm gave to none of them, and keep their own. */
static void left_when_off(void **state)
{
	(void)state;
	node_close(node);
	node = node_start(2, 2, "--policy=lewi --idle=4-7 --off-file=/off");
	mal_idle_hand_out(node);
	node_obey();
	assert_string_equal(node_owned(0), "0-1,4,6");
	node_admin_switch(true);
	mal_admin_switch_update(node);
	assert_string_equal(node_owned(0), "0-1");
	assert_string_equal(node_owned(1), "2-3");
	assert_string_equal(node_idle(node), "4-7");
}

/*
 * A write to the cgroup has undone affinities: the team goes to its places again, the others to the
 * rank's CPUs.
 */
static void undone_affinities_are_set_again(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NODE_THREADS; i++) {
		node_insist(0, i, 6);
		node_insist(0, i, MAL_NO_CPU);
	}
	node_thread(0, 1)->cpu = 6;
	mal_evict_rebind(node);
	assert_true(node_may_run(0, 0, 0) && !node_may_run(0, 0, 1));
	/* Its place was not the rank's: it goes home, beside the other one. */
	assert_int_equal(node_thread(0, 1)->cpu, 1);
	assert_int_equal(node_thread(0, 1)->bound_cpu, 1);
	assert_true(node_may_run(0, 1, 1) && !node_may_run(0, 1, 0) && !node_may_run(0, 1, 6));
	assert_true(node_may_run(0, 2, 0) && node_may_run(0, 2, 1) && !node_may_run(0, 2, 6));
	/* A thread that has no place, and a rank that has no CPU, are left alone. */
	node_thread(0, 0)->cpu = MAL_NO_CPU;
	node_set_cpu(2, MAL_NOBODY, MAL_NOBODY, false);
	node_set_cpu(3, MAL_NOBODY, MAL_NOBODY, false);
	mal_evict_rebind(node);
	assert_true(node_may_run(1, 0, 2));
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(idle_cpus_go_to_ranks_with_fewest),
		CASE(plans_know_one_moment),
		CASE(handed_out_to_whom_they_help),
		CASE(handed_out_home),
		CASE(a_newcomer_is_helped),
		CASE(successor_of_a_killed_rank_gets_its_threads_back),
		CASE(a_newcomer_has_idle_ones_first),
		CASE(a_newcomer_takes_no_last_cpu),
		CASE(not_while_observed),
		CASE(offers_beyond_the_job_are_passed_over),
		CASE(users_leave_a_withdrawn_cpu),
		CASE(rank_without_cpu_gets_one),
		CASE(with_one_cpu_each_nobody_gives),
		CASE(cpu_that_is_bound_again_is_kept),
		CASE(not_while_binding),
		CASE(not_while_blind),
		CASE(ended_ranks_may_have_threads),
		CASE(left_when_off),
		CASE(undone_affinities_are_set_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

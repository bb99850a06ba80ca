/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_idle.c: CPUs that come and go: idle ones of the job, those that are left, shares of a node.
 */
#include "t/unit/node_controller.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/leaving.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/cpus/share.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/ranks.h"
#include "libmalleable/core/agent_protocol.h"

static struct mal_controller *node;
static int agent = -1;

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
	if (agent >= 0)
		close(agent);
	agent = -1;
	return 0;
}

/* Idle CPUs go to those with fewest that can use more. */
static void handed_out(void **state)
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
		mal_idle_withdraw(node, "4-7", NULL);
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
static void replaced_unseen(void **state)
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
	assert_int_equal(mal_idle_withdraw(node, "4-7", NULL), 0);
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
static void offered(void **state)
{
	struct mal_error err;

	(void)state;
	assert_int_equal(mal_idle_withdraw(node, "4-7", NULL), 0);
	assert_string_equal(node_idle(node), "");
	assert_int_equal(mal_idle_offer(node, "4,9-12,900", &err), 0);
	assert_string_equal(node_idle(node), "4");
	assert_int_equal(node_cpu(4).owner, 0);
	assert_int_equal(mal_idle_offer(node, "four", &err), -1);
	assert_int_equal(mal_idle_withdraw(node, "", &err), -1);
	assert_null(node_wrong(node));
}

/* Who used the CPU is sent away, team and all, before it is another step's. */
static void withdrawn(void **state)
{
	uint32_t changes = node_slot(0)->changes;

	(void)state;
	assert_true(mal_word_lend(&node_segment()->cpus[1].word, 0));
	assert_true(mal_word_borrow(&node_segment()->cpus[1].word, 1));
	node_thread(1, 1)->cpu = 1;
	node_insist(1, 1, 1);
	node_insist(1, 1, MAL_NO_CPU);
	assert_true(node_may_run(1, 1, 1));
	assert_int_equal(mal_idle_withdraw(node, "1", NULL), 0);
	assert_int_equal(node_cpu(1).owner, MAL_NOBODY);
	assert_int_equal(node_cpu(1).user, MAL_NOBODY);
	assert_int_not_equal(node_thread(1, 1)->cpu, 1);
	assert_int_equal(node_thread(1, 1)->bound, MAL_NO_CPU);
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
static void helped_out(void **state)
{
	(void)state;
	assert_int_equal(mal_idle_withdraw(node, "4-7", NULL), 0);
	assert_int_equal(mal_idle_withdraw(node, "0-1", NULL), 0);
	assert_string_equal(node_owned(0), "3");
	assert_string_equal(node_owned(1), "2");
	assert_int_equal(node_cpu(3).user, 0);
	assert_true(node_may_run(0, 2, 3) && !node_may_run(0, 2, 0));
	assert_null(node_wrong(node));
}

/* With one CPU for each there is nothing to help out with. */
static void nobody_helps(void **state)
{
	(void)state;
	assert_int_equal(mal_idle_withdraw(node, "1,3-7", NULL), 0);
	assert_int_equal(mal_idle_withdraw(node, "0", NULL), -1);
	assert_string_equal(node_owned(0), "");
	assert_string_equal(node_owned(1), "2");
}

/*
 * A program that binds a thread there again and again keeps the CPU from the others; that is said,
 * once the time is over.
 */
static void stubborn(void **state)
{
	struct mal_error err;

	(void)state;
	node_insist(0, 2, 1);
	assert_int_equal(mal_idle_withdraw(node, "1", &err), -1);
	assert_string_equal(err.text, "CPUs of 1 are not left yet");
	assert_string_equal(node_leaving(node), "1");
	node_pass(0.021);
	mal_idle_settle(node);
	assert_string_equal(node_kept(node), "");
	for (unsigned int i = 0; i < 60; i++) {
		node_pass(0.021);
		mal_idle_settle(node);
	}
	assert_string_equal(node_kept(node), "1");
	assert_string_equal(node_leaving(node), "1");
	assert_false(node_is_settling(node));
	/* It goes on being looked at, once a second. */
	node_insist(0, 2, MAL_NO_CPU);
	node_pass(0.5);
	mal_idle_settle(node);
	assert_string_equal(node_leaving(node), "1");
	node_pass(1);
	mal_idle_settle(node);
	assert_string_equal(node_leaving(node), "");
	assert_string_equal(node_kept(node), "1");
}

/* Nobody else has the CPU before no rank is binding threads by words that it read before. */
static void not_while_binding(void **state)
{
	(void)state;
	node_slot(1)->binding = 1;
	assert_int_equal(mal_idle_withdraw(node, "4", NULL), -1);
	assert_string_equal(node_leaving(node), "4");
	node_slot(1)->binding = 0;
	node_pass(0.03);
	mal_idle_settle(node);
	assert_string_equal(node_leaving(node), "");
}

/* One that left in order lives on, with threads; one that was killed has none. */
static void former_ranks(void **state)
{
	(void)state;
	assert_int_equal(mal_idle_withdraw(node, "4-7", NULL), 0);
	node_rank_end(0);
	mal_ranks_update(node);
	node_insist(0, 2, 1);
	assert_int_equal(mal_idle_withdraw(node, "0-1", NULL), -1);
	assert_string_equal(node_leaving(node), "1");
	node_insist(0, 2, MAL_NO_CPU);
	node_pass(0.03);
	mal_idle_settle(node);
	assert_string_equal(node_leaving(node), "");
	assert_true(node_may_run(0, 2, 2) && !node_may_run(0, 2, 1));
	node_insist(0, 1, 3);
	node_rank_kill(0);
	mal_ranks_update(node);
	assert_int_equal(mal_idle_withdraw(node, "3", NULL), 0);
}

/* Where the threads cannot be seen nothing is known of them. */
static void not_while_blind(void **state)
{
	(void)state;
	node_set_blind(true);
	assert_int_equal(mal_idle_withdraw(node, "1", NULL), -1);
	assert_string_equal(node_leaving(node), "1");
	node_set_blind(false);
	node_pass(0.03);
	mal_idle_settle(node);
	assert_string_equal(node_leaving(node), "");
}

/* Switched off: ranks leave what Slurm gave to none of them, and keep their own. */
static void left_when_off(void **state)
{
	(void)state;
	mal_idle_hand_out(node);
	node_obey();
	assert_string_equal(node_owned(0), "0-1,4,6");
	mal_idle_leave(node);
	assert_string_equal(node_owned(0), "0-1");
	assert_string_equal(node_owned(1), "2-3");
	assert_string_equal(node_idle(node), "4-7");
}

/*
 * A write to the cgroup has undone affinities: the team goes to its places again, the others to the
 * rank's CPUs.
 */
static void bound_again(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NODE_THREADS; i++) {
		node_insist(0, i, 6);
		node_insist(0, i, MAL_NO_CPU);
	}
	node_thread(0, 1)->cpu = 6;
	mal_idle_rebind(node);
	assert_true(node_may_run(0, 0, 0) && !node_may_run(0, 0, 1));
	/* Its place was not the rank's: it goes home, beside the other one. */
	assert_int_equal(node_thread(0, 1)->cpu, 1);
	assert_int_equal(node_thread(0, 1)->bound, 1);
	assert_true(node_may_run(0, 1, 1) && !node_may_run(0, 1, 0) && !node_may_run(0, 1, 6));
	assert_true(node_may_run(0, 2, 0) && node_may_run(0, 2, 1) && !node_may_run(0, 2, 6));
	/* A thread that has no place, and a rank that has no CPU, are left alone. */
	node_thread(0, 0)->cpu = MAL_NO_CPU;
	node_set_cpu(2, MAL_NOBODY, MAL_NOBODY, false);
	node_set_cpu(3, MAL_NOBODY, MAL_NOBODY, false);
	mal_idle_rebind(node);
	assert_true(node_may_run(1, 0, 2));
}

/* Was the agent answered that share NUMBER is kept to? */
static bool answered(uint64_t number)
{
	struct mal_agent_done done = {0};

	return recv(agent, &done, sizeof(done), MSG_DONTWAIT) == sizeof(done) &&
	       done.number == number;
}

/* The agent tells the step its SHARE; returns whether it was answered so. */
static bool tell_share(uint64_t number, const char *share)
{
	struct mal_agent_share message = {.number = number};

	assert_int_equal(mal_cpumask_parse(share, &message.cpus, NULL), 0);
	assert_int_equal(send(agent, &message, sizeof(message), 0), sizeof(message));
	mal_share_update(node);
	return answered(number);
}

/* SECONDS pass in turns of the loop. */
static void turn(double seconds)
{
	for (; seconds > 0; seconds -= 0.021) {
		node_pass(0.021);
		mal_share_update(node);
		mal_idle_settle(node);
	}
	mal_share_update(node);
}

static void open_agent(const char *policy)
{
	char options[128];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	agent = ends[0];
	node_close(node);
	snprintf(options, sizeof(options), "--policy=%s --agent-fd=%d", policy, ends[1]);
	node = node_start(2, 4, options);
}

/* Beside other jobs: what is not in the share is left, and taken again when it is. */
static void shared(void **state)
{
	(void)state;
	open_agent("lewi");
	assert_string_equal(node_share(node), "0-7");
	assert_int_equal(node_min_share(node), 8);
	assert_true(tell_share(1, "0-1,4-5"));
	assert_string_equal(node_share(node), "0-1,4-5");
	assert_string_equal(node_owned(0), "0-1");
	assert_string_equal(node_owned(1), "4-5");
	assert_false(node_may_run(0, 2, 2));
	assert_int_equal(node_min_share(node), 4);
	/* One that is left without gets one; CPUs of others are nothing to us. */
	assert_true(tell_share(2, "0-1,100"));
	assert_string_equal(node_share(node), "0-1");
	assert_null(node_wrong(node));
	assert_int_equal(strlen(node_owned(0)) + strlen(node_owned(1)), 2);
	assert_true(tell_share(3, "0-7"));
	node_obey();
	assert_int_equal(node_min_share(node), 2);
	assert_null(node_wrong(node));
	for (unsigned int cpu = 0; cpu < 8; cpu++)
		assert_int_not_equal(node_cpu(cpu).owner, MAL_NOBODY);
}

/*
 * The agent is answered when the kernel says that all threads have left, idle ones included,
 * however long that takes.
 */
static void answered_when_left(void **state)
{
	(void)state;
	open_agent("lewi");
	node_insist(1, 2, 6);
	assert_false(tell_share(1, "0-1,4-5"));
	assert_string_equal(node_leaving(node), "6");
	turn(5);
	assert_false(answered(1));
	/* CPUs that were given back meanwhile are left by nobody; the last share is answered. */
	assert_false(tell_share(2, "0-1,4-5,7"));
	node_insist(1, 2, MAL_NO_CPU);
	turn(1.1);
	assert_true(answered(2));
	assert_false(answered(2));
	assert_string_equal(node_leaving(node), "");
	/* Other jobs had the CPU all the same. */
	assert_string_equal(node_kept(node), "");
	/* Threads that are being bound by older words may come there still. */
	node_slot(0)->binding = 1;
	assert_false(tell_share(3, "0-1,4"));
	node_slot(0)->binding = 0;
	turn(0.02);
	assert_true(answered(3));
	node_set_blind(true);
	assert_false(tell_share(4, "0,4"));
	node_set_blind(false);
	turn(0.02);
	assert_true(answered(4));
	/* What comes back is nobody's to leave. */
	node_insist(1, 2, 4);
	assert_false(tell_share(5, "0"));
	assert_true(tell_share(6, "0,4"));
	assert_string_equal(node_leaving(node), "");
	assert_null(node_wrong(node));
}

/* One that has left the others has threads too: they go, and are waited for. */
static void answered_when_former_ranks_left(void **state)
{
	(void)state;
	open_agent("lewi");
	node_rank_end(1);
	mal_ranks_update(node);
	assert_true(node_may_run(1, 2, 6));
	node_insist(1, 2, 6);
	assert_false(tell_share(1, "0-3"));
	node_insist(1, 2, MAL_NO_CPU);
	turn(0.02);
	assert_true(answered(1));
	for (unsigned int i = 0; i < NODE_THREADS; i++)
		for (unsigned int cpu = 4; cpu < 8; cpu++)
			assert_false(node_may_run(1, i, cpu));
}

/*
 * No rank that runs is left without a CPU where the share has one: new ones come before their home,
 * those of ended ranks before none.
 */
static void shared_by_all(void **state)
{
	(void)state;
	open_agent("lewi");
	assert_true(tell_share(1, "4-5"));
	assert_string_equal(node_owned(0), "5");
	assert_true(tell_share(2, "4,6"));
	assert_string_equal(node_owned(0), "6");
	assert_string_equal(node_owned(1), "4");
	assert_true(tell_share(3, "3-6"));
	node_rank_end(1);
	mal_ranks_update(node);
	assert_true(tell_share(4, "4"));
	assert_string_equal(node_owned(0), "4");
	assert_null(node_wrong(node));
}

/* Messages that are none, and shares without a CPU of ours, change nothing. */
static void shared_nonsense(void **state)
{
	(void)state;
	open_agent("lewi");
	assert_int_equal(send(agent, "short", 5, 0), 5);
	mal_share_update(node);
	assert_string_equal(node_share(node), "0-7");
	assert_true(tell_share(4, "8-9"));
	assert_string_equal(node_share(node), "0-7");
	assert_null(node_wrong(node));
}

/* A step that is only observed keeps what it has. */
static void shared_while_observed(void **state)
{
	(void)state;
	open_agent("observe");
	assert_true(tell_share(1, "0-3"));
	assert_string_equal(node_share(node), "0-7");
	assert_string_equal(node_owned(1), "4-7");
}

/* The agent is gone: all CPUs are the step's again. */
static void agent_goes(void **state)
{
	(void)state;
	open_agent("lewi");
	assert_true(tell_share(1, "0-3"));
	close(agent);
	agent = -1;
	mal_share_update(node);
	assert_string_equal(node_share(node), "0-7");
	node_obey();
	assert_int_equal(node_cpu(7).owner, 1);
	mal_share_update(node);
	assert_null(node_wrong(node));
}

/* Ranks may begin with CPUs that are not in the share: they leave them. */
static void begins_outside(void **state)
{
	(void)state;
	open_agent("lewi");
	assert_true(tell_share(1, "0-1,4-7"));
	assert_string_equal(node_owned(0), "0-1");
	node_rank_kill(0);
	mal_ranks_update(node);
	node_rank_start(0);
	mal_ranks_update(node);
	assert_string_equal(node_owned(0), "0-3");
	mal_share_update(node);
	assert_string_equal(node_owned(0), "0-1");
	assert_false(node_may_run(0, 2, 3));
	/* And a program that binds itself there is sent away, once a second, without end. */
	for (unsigned int i = 0; i < 60; i++) {
		node_pass(0.05);
		mal_idle_settle(node);
	}
	node_insist(0, 2, 3);
	node_insist(0, 2, MAL_NO_CPU);
	node_pass(1.1);
	mal_idle_settle(node);
	assert_false(node_may_run(0, 2, 3));
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(handed_out),
		CASE(plans_know_one_moment),
		CASE(handed_out_to_whom_they_help),
		CASE(handed_out_home),
		CASE(a_newcomer_is_helped),
		CASE(replaced_unseen),
		CASE(a_newcomer_has_idle_ones_first),
		CASE(a_newcomer_takes_no_last_cpu),
		CASE(not_while_observed),
		CASE(offered),
		CASE(withdrawn),
		CASE(helped_out),
		CASE(nobody_helps),
		CASE(stubborn),
		CASE(not_while_binding),
		CASE(not_while_blind),
		CASE(former_ranks),
		CASE(left_when_off),
		CASE(bound_again),
		CASE(shared),
		CASE(answered_when_left),
		CASE(answered_when_former_ranks_left),
		CASE(shared_by_all),
		CASE(shared_nonsense),
		CASE(shared_while_observed),
		CASE(agent_goes),
		CASE(begins_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_share.c: the step's share of CPUs that other jobs have too, as an agent tells it. */
#include "t/unit/node_controller.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libmalleable/agent/protocol.h"
#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/cpus/leaving.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/ranks.h"
#include "libmalleable/controller/share.h"

static struct mal_controller *node;
static int agent = -1;

static int tear_down(void **state)
{
	(void)state;
	node_close(node);
	if (agent >= 0)
		close(agent);
	agent = -1;
	return 0;
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
		mal_evict_settle(node);
	}
	mal_share_update(node);
}

static void open_agent(const char *policy)
{
	char options[128];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	agent = ends[0];
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
	/* What it had gained is not idle any more. */
	assert_true(tell_share(4, "0-1,4-5"));
	assert_string_equal(node_idle(node), "4-5");
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
		mal_evict_settle(node);
	}
	node_insist(0, 2, 3);
	node_insist(0, 2, MAL_NO_CPU);
	node_pass(1.1);
	mal_evict_settle(node);
	assert_false(node_may_run(0, 2, 3));
}

#define CASE(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
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

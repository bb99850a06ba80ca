/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_peers.c: pool=job: what controllers of one job tell each other, and which CPUs the first of
 * them passes on.
 */
#include "t/unit/node_controller.h"

#include <stdio.h>

#include "libmalleable/base/patience.h"
#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/cpus/pool.h"
#include "libmalleable/core/rundir.h"
#include "t/unit/node_kernel.h"

static struct mal_controller *node;

/* Two ranks on CPUs 0 to 3; 4 to 7 are the other step's. */
static int set_up(void **state)
{
	(void)state;
	node = node_start(2, 2, "--policy=lewi --socket=" MAL_SOCKET_DIR "/we --idle=4-7");
	assert_int_equal(mal_evict_withdraw(node, "4-7", NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	node_close(node);
	return 0;
}

static void open_pool(void)
{
	assert_string_equal(node_ask(node, "peers we:0-3:0-7 they:4-7:0-7"), "ok\n");
}

static void look(void)
{
	node_pass(0.25);
	mal_pool_update(node);
}

/* What is no list of steps is refused, and the one before stays. */
static void peers_are_checked(void **state)
{
	char text[4096] = "peers";

	(void)state;
	assert_string_equal(node_ask(node, "peers we"), "error 'we': must be NAME:OWN:MAY\n");
	assert_string_equal(node_ask(node, "peers we:0"), "error 'we:0': must be NAME:OWN:MAY\n");
	assert_string_equal(node_ask(node, "peers ../x:0:0"), "error '../x': no controller\n");
	assert_string_equal(node_ask(node, "peers :0:0"), "error '': no controller\n");
	assert_memory_equal(node_ask(node, "peers we:x:0"), "error ", 6);
	assert_memory_equal(node_ask(node, "peers we:0:"), "error ", 6);
	for (unsigned int i = 0; i < 65; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " s%u:0:0", i);
	assert_string_equal(node_ask(node, text), "error more than 64 steps in a pool\n");
	open_pool();
	open_pool();
}

/*
 * Before there is a window these are the CPUs that Slurm gave, and nothing is known of the ranks.
 */
static void describes_itself(void **state)
{
	(void)state;
	assert_string_equal(node_ask(node, "pool"), "0-3 \n");
	node_set_cpu(3, MAL_NOBODY, MAL_NOBODY, false);
	assert_string_equal(node_ask(node, "pool"), "0-2 \n");
	open_pool();
	assert_string_equal(node_ask(node, "pool"), "0-3 \n");
	node_set_cpu(3, 1, 1, false);
	node_window(node, 1, (const double[]){1.5, 0.5});
	node_window(node, 1, (const double[]){1.5, 0.5});
	assert_string_equal(node_ask(node, "pool"),
			    "0-3 \n2 0 1.500000 0.000000 0\n2 0 0.500000 0.000000 2\n");
	/* CPUs that are being left are named. */
	node_insist(0, 2, 1);
	assert_int_equal(mal_evict_withdraw(node, "1", NULL), -1);
	assert_memory_equal(node_ask(node, "pool"), "0-3 1\n1 0 ", 10);
}

/* Who has nothing to do gives: twice in a row it is seen that it is worth it. */
static void idle_step_gives_cpus(void **state)
{
	(void)state;
	open_pool();
	node_others_answer("4-7 \n4 0 9.000000 0.000000 4\n", true);
	node_window(node, 1, (const double[]){0.1, 0.1});
	node_window(node, 1, (const double[]){0.1, 0.1});
	look();
	assert_string_equal(node_told(), "");
	assert_int_equal(node_kernel.timeout_ms, 20);
	mal_patience_set(60);
	look();
	mal_patience_set(1);
	assert_string_equal(node_told(), "offer 1,3");
	assert_int_equal(node_kernel.timeout_ms, 1200);
	assert_string_equal(node_owned(0), "0");
	assert_string_equal(node_owned(1), "2");
	assert_null(node_wrong(node));
}

/* And the other way round: the other one leaves them before we are told. */
static void idle_peer_is_taken_from(void **state)
{
	(void)state;
	open_pool();
	node_others_answer("4-7 \n4 0 0.100000 0.000000 4\n", true);
	node_window(node, 1, (const double[]){2, 2});
	node_window(node, 1, (const double[]){2, 2});
	mal_patience_set(60);
	look();
	assert_int_equal(node_kernel.timeout_ms, 1200);
	mal_patience_set(1);
	look();
	assert_memory_equal(node_told(), "withdraw ", 9);
	assert_int_equal(node_kernel.timeout_ms, 20);
	node_obey();
	assert_int_equal(node_cpu(7).owner < 2, 1);
	assert_int_equal(node_cpu(4).owner, MAL_NOBODY);
	assert_null(node_wrong(node));
}

/* It does not leave them: nothing is taken. */
static void does_not_obey(void **state)
{
	(void)state;
	open_pool();
	node_others_answer("4-7 \n4 0 0.100000 0.000000 4\n", false);
	node_window(node, 1, (const double[]){2, 2});
	node_window(node, 1, (const double[]){2, 2});
	for (unsigned int i = 0; i < 6; i++)
		look();
	assert_string_equal(node_owned(0), "0-1");
	assert_string_equal(node_idle(node), "");
	/* It has left some of them since: they are for us, before anybody else has them. */
	node_others_answer("4 \n1 0 0.100000 0.000000 4\n", true);
	look();
	assert_true(*node_idle(node));
	assert_null(node_wrong(node));
}

/* CPUs that nobody has go to whom Slurm gave them; what a step may not have it leaves. */
static void wrong_owners_are_put_right(void **state)
{
	(void)state;
	open_pool();
	node_others_answer("4-6 \n", true);
	look();
	assert_string_equal(node_told(), "offer 7");
	node_others_answer("4-9 \n", true);
	look();
	assert_string_equal(node_told(), "withdraw 8-9");
	node_set_cpu(3, MAL_NOBODY, MAL_NOBODY, false);
	node_window(node, 1, (const double[]){0.1, 0.1});
	node_window(node, 1, (const double[]){0.1, 0.1});
	node_others_answer("4-7 \n", true);
	look();
	assert_string_equal(node_told(), "");
	assert_int_equal(node_cpu(3).owner, 1);
}

/*
 * The first of the steps too leaves what it may not have any more; who does not leave it still has
 * it, and nobody else gets it.
 */
static void left_by_the_first(void **state)
{
	(void)state;
	open_pool();
	node_others_answer("4-7 \n", true);
	look();
	assert_string_equal(node_ask(node, "peers we:0-2:0-2 they:3-7:0-7"), "ok\n");
	node_others_answer("4-7 \n", true);
	look();
	assert_string_equal(node_owned(1), "2");
	assert_string_equal(node_told(), "offer 3");
	assert_string_equal(node_ask(node, "peers we:0-2:0-6 they:3-7:7"), "ok\n");
	node_others_answer("3-7 \n", false);
	look();
	assert_string_equal(node_told(), "withdraw 3-6");
	assert_string_equal(node_idle(node), "");
	assert_null(node_wrong(node));
}

/* Answers that are none stop it, whatever is in them. */
static void nonsense_answers_stop_it(void **state)
{
	static const char *const answers[] = {
		"",
		"x \n",
		"4-6 x\n",
		"4-6 \n4 0 nan 0 4\n",
		"4-6 \n4 0 -1 0 4\n",
		"4-6 \n4 0 1 inf 4\n",
		"4-6 \n4000000000 0 1 1 4\n",
		"4-6 \n1000 0 1 1 4\n1000 0 1 1 4\n",
		"4-6 \n4 0 1\n",
		NULL,
	};

	(void)state;
	open_pool();
	node_window(node, 1, (const double[]){2, 2});
	node_window(node, 1, (const double[]){2, 2});
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		node_others_answer(answers[i], true);
		look();
		assert_string_equal(node_told(), "");
	}
	assert_null(node_wrong(node));
}

/* Not so often, not while another one is first, and not where balancing is off. */
static void it_asks_neither_often_nor_second(void **state)
{
	(void)state;
	mal_pool_update(node);
	open_pool();
	node_others_answer("4-6 \n", true);
	look();
	assert_string_equal(node_told(), "offer 7");
	node_others_answer("4-6 \n", true);
	node_pass(0.1);
	mal_pool_update(node);
	assert_string_equal(node_told(), "");
	assert_string_equal(node_ask(node, "peers they:4-7:0-7 we:0-3:0-7"), "ok\n");
	node_others_live(true);
	look();
	assert_string_equal(node_told(), "");
	node_others_live(false);
	look();
	assert_string_equal(node_told(), "offer 7");
	assert_string_equal(node_ask(node, "peers they:4-7:0-7 those:0-3:0-7"), "ok\n");
	node_others_answer("4-6 \n", true);
	look();
	assert_string_equal(node_told(), "");
}

/* While CPUs are being left nothing else is exchanged; after some looks they count as nobody's. */
static void nothing_is_exchanged_while_cpus_are_left(void **state)
{
	(void)state;
	open_pool();
	node_window(node, 1, (const double[]){2, 2});
	node_window(node, 1, (const double[]){2, 2});
	for (unsigned int i = 0; i < 9; i++) {
		node_others_answer("4-7 7\n3 0 0.100000 0.000000 4\n", true);
		look();
		assert_string_equal(node_told(), "");
	}
	for (unsigned int i = 0; i < 3; i++)
		look();
	assert_memory_equal(node_told(), "withdraw ", 9);
	assert_null(strchr(node_told(), '7'));
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(peers_are_checked),
		CASE(describes_itself),
		CASE(idle_step_gives_cpus),
		CASE(idle_peer_is_taken_from),
		CASE(does_not_obey),
		CASE(wrong_owners_are_put_right),
		CASE(nonsense_answers_stop_it),
		CASE(it_asks_neither_often_nor_second),
		CASE(nothing_is_exchanged_while_cpus_are_left),
		CASE(left_by_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

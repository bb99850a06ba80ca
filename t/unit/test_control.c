/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_control.c: requests from outside, as text, and what is answered to each. */
#include "t/unit/node_controller.h"
#include "t/unit/node_kernel.h"

#include "libmalleable/controller/control_socket.h"
#include "libmalleable/controller/event_lines.h"
#include "libmalleable/controller/ranks.h"

static struct mal_controller *node;

/* Rank 2 of three has ended. */
static int set_up(void **state)
{
	(void)state;
	node = node_start(3, 2, "--policy=external --nodes=2 --idle=6-7");
	node_rank_end(2);
	mal_ranks_update(node);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	node_close(node);
	return 0;
}

/* One line for each: what is asked, and what is answered. */
struct line {
	const char *request, *answer;
};

static void ask_all(const struct line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *answer = node_ask(node, lines[i].request);

		assert_string_equal(answer, lines[i].answer);
		assert_ptr_equal(strchr(answer, '\n'), answer + strlen(answer) - 1);
	}
}

#define ONE_OF "error needs cpus, count, min and max, free or policy\n"

/* What is wrong is said in one line, and nothing changes. */
static void wrong_requests_change_nothing(void **state)
{
	static const struct line lines[] = {
		{"", "error unknown request ''\n"},
		{"dance", "error unknown request 'dance'\n"},
		{"set", "error unknown request 'set'\n"},
		{"a request that is far longer than the answer has room for it",
		 "error unknown request 'a request that is far longer tha'\n"},
		{"set ", ONE_OF},
		{"set rank=0", ONE_OF},
		{"set rank=0 free cpus=1", ONE_OF},
		{"set rank=0 count=1 min=1", ONE_OF},
		{"set rank=0 policy=lewi", ONE_OF},
		{"set policy=lewi free", ONE_OF},
		{"set policy=lewi count=1", ONE_OF},
		{"set loudness=11", "error unknown request 'loudness'\n"},
		{"set free=1", "error unknown request 'free'\n"},
		{"set rank", "error unknown request 'rank'\n"},
		{"set rank=9 count=1", "error rank 9: must be between 0 and 2\n"},
		{"set rank=-1 count=1", "error rank -1: must be between 0 and 2\n"},
		{"set rank= count=1", "error rank : must be between 0 and 2\n"},
		{"set rank=1x count=1", "error rank 1x: must be between 0 and 2\n"},
		{"set rank=2 count=1", "error rank 2 does not run\n"},
		{"set rank=0 count=0", "error count 0: must be between 1 and 8\n"},
		{"set rank=0 min=9", "error min 9: must be between 1 and 8\n"},
		{"set rank=0 max=99999999999999999999",
		 "error max 99999999999999999999: must be between 1 and 8\n"},
		{"set rank=0 min=3 max=2",
		 "error the minimum of 3 CPUs is above the maximum of 2\n"},
		{"set cpus=0", "error name the rank: JOB.STEP.RANK\n"},
		{"set rank=0 cpus=5,9", "error CPUs 5,9 are not the step's: it has 0-7\n"},
		{"set min=3", "error the ranks would need at least 6 CPUs, and there are 4\n"},
		{"set rank=0 max=1", "ok\n"},
		{"set rank=1 max=2",
		 "error 1 CPU would belong to no rank: the ranks could have at most 3\n"},
		{"set policy=off", "error a running step cannot be switched off: set observe\n"},
		{"offer x", "error 'x' is not a list of CPUs below 1024 such as 0-3,8\n"},
		{"nodes {}", "error all nodes have reported\n"},
	};

	(void)state;
	ask_all(lines, sizeof(lines) / sizeof(lines[0]));
	assert_memory_equal(node_ask(node, "set rank=0 cpus=x"), "error ", 6);
	assert_memory_equal(node_ask(node, "withdraw x"), "error ", 6);
	assert_memory_equal(node_ask(node, "set policy=nonesuch"), "error ", 6);
	assert_memory_equal(node_ask(node, "set policy=lewi,keep=maybe"), "error ", 6);
	assert_null(node_wrong(node));
}

/* Each request that there is. */
static void each_request_is_carried_out(void **state)
{
	static const struct line lines[] = {
		{"set rank=0 count=3", "ok\n"},
		{"set rank=0 cpus=0-1", "ok\n"},
		{"set rank=0 min=1 max=4", "ok\n"},
		{"set rank=0 free", "ok\n"},
		{"set free", "ok\n"},
		{"set max=4", "ok\n"},
		{"set min=1", "ok\n"},
		{"set policy=lewi", "ok\n"},
		{"withdraw 6-7", "ok\n"},
		{"offer 6", "ok\n"},
		{"rebind", "ok\n"},
		{"peers we:0-3:0-7", "ok\n"},
		{"elsewhere", "ok\n"},
		{"segment", "descriptor\n"},
	};

	(void)state;
	ask_all(lines, sizeof(lines) / sizeof(lines[0]) - 1);
	assert_string_equal(node_ask(node, "segment"), "descriptor");
	assert_memory_equal(node_ask(node, "status"), "{\"version\":1,", 13);
	assert_non_null(strstr(node_ask(node, "status"), "\"mode\":\"team\""));
	assert_null(strstr(node_ask(node, "status"), "\"mode\":\"cpuset\""));
	node_slot(1)->reason = MAL_REASON_REPORTED;
	assert_non_null(strstr(node_ask(node, "status"), "\"mode\":\"cpuset\""));
	assert_string_equal(node_ask(node, "node n 1"), "");
	assert_memory_equal(node_ask(node, "node n1"), "{\"node\":\"n1\"", 12);
	assert_int_equal(node_cpu(6).owner, 0);
	assert_null(node_wrong(node));
}

static unsigned int goes_to(unsigned int cpu)
{
	return node->step->segment.cpus[cpu].target;
}

/* Ranks get each other's CPUs by orders that come together; all of these hold or none. */
static void swaps(void **state)
{
	static const struct line lines[] = {
		{"set rank=0 cpus=0-1 ; rank=1 cpus=2-3", "ok\n"},
		{"set rank=0 cpus=2-3", "error an order gives rank 1 one of these CPUs\n"},
		{"set rank=0 cpus=2-3 ; rank=1 cpus=0-1", "ok\n"},
		{"set rank=0 cpus=0 ; rank=1 cpus=0-1", "error an order gives rank 0 one of these "
							"CPUs\n"},
		{"set rank=0 free ; count=1", "error of several orders each needs its rank\n"},
		{"set rank=0 free ; rank=1", ONE_OF},
		{"set rank=0 free ;", ONE_OF},
	};

	(void)state;
	ask_all(lines, sizeof(lines) / sizeof(lines[0]));
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		assert_int_equal(goes_to(cpu), 1 - cpu / 2);
	/* The one CPU of a rank stays until another one has come, for ever if none can. */
	node_close(node);
	node = node_start(2, 1, "--policy=external");
	assert_string_equal(node_ask(node, "set rank=0 cpus=1 ; rank=1 cpus=0"),
			    "error ranks of one CPU cannot swap it: each keeps it until it has got "
			    "another\n");
	assert_null(strstr(node_ask(node, "status"), "\"exact\":true"));
}

/* What the site allows is all that can be set. */
static void only_allowed_policies_can_be_set(void **state)
{
	(void)state;
	node_close(node);
	node = node_start(2, 1, "--policy=external --policies=external,lewi");
	assert_string_equal(node_ask(node, "set policy=lewi"), "ok\n");
	assert_memory_equal(node_ask(node, "set policy=auto"), "error ", 6);
	assert_string_equal(node_policy(node), "lewi");
}

/* Ranks of a step that was started to be observed are not prepared for more. */
static void observed_steps_take_no_orders(void **state)
{
	(void)state;
	node_close(node);
	node = node_start(2, 1, "--policy=observe");
	assert_string_equal(
		node_ask(node, "set count=1"),
		"error policy observe moves no CPUs: set another first, such as external\n");
	assert_string_equal(
		node_ask(node, "set policy=lewi"),
		"error the step was started to be observed: its ranks are not prepared for more\n");
	assert_string_equal(node_ask(node, "set policy=observe"), "ok\n");
	assert_string_equal(node_ask(node, "elsewhere"), "error the step has no other node\n");
}

/* Clients that come without end do not keep the ranks waiting. */
static void ranks_come_first(void **state)
{
	uint32_t wake = node_segment()->header->wake;

	(void)state;
	assert_non_null(node_ask(node, "status"));
	assert_int_equal(node_segment()->header->wake, wake);
	node_clients_wait(node, 20, "status");
	assert_int_equal(node_clients_left(), 4);
	assert_int_equal(node_segment()->header->wake, wake + 1);
	mal_control_serve(node);
	assert_int_equal(node_clients_left(), 0);
}

/* Who asked is still connected, and is asked again where it sends more. */
static const char *ask_on(const char *request)
{
	node_kernel.asks = node_kernel.accepted - 1 + NODE_FIRST_CLIENT;
	node_kernel.request = request;
	mal_control_serve(node);
	return node_kernel.answer;
}

/* Who reads events is told each once, and how many it had no room for. */
static void events_cost_readers(void **state)
{
	(void)state;
	assert_false(mal_events_look(node));
	assert_string_equal(node_ask(node, "events"), "ok\n");
	assert_true(mal_events_look(node));
	assert_string_equal(node_kernel.events, "");
	assert_string_equal(node_ask(node, "set rank=0 count=3"), "ok\n");
	mal_events_look(node);
	assert_non_null(strstr(node_kernel.events, "{\"event\":\"plan\",\"at_s\":"));
	assert_null(strstr(node_kernel.events, "settled"));
	node_kernel.deaf = true;
	node_obey();
	mal_events_look(node);
	node_kernel.deaf = false;
	node_kernel.events[0] = '\0';
	assert_string_equal(node_ask(node, "set policy=lewi"), "ok\n");
	mal_events_look(node);
	assert_ptr_equal(strstr(node_kernel.events, "{\"event\":\"lost\",\"count\":2}\n"),
			 node_kernel.events);
	assert_non_null(strstr(node_kernel.events, "\"policy\":\"lewi\"}\n"));
	node_kernel.gone = NODE_FIRST_CLIENT;
	mal_control_serve(node);
	assert_false(mal_events_look(node));
	for (int i = 0; i < 16; i++)
		assert_string_equal(node_ask(node, "events"), "ok\n");
	assert_string_equal(node_ask(node, "events"), "error 16 others do that already\n");
}

/* Orders of who holds them end with the connection, but for ranks that others ordered since. */
static void held_orders_end(void **state)
{
	const struct mal_order *orders = node->deciding.orders.ranks;

	(void)state;
	assert_string_equal(node_ask(node, "hold"), "ok\n");
	assert_string_equal(ask_on("set rank=0 min=2 ; rank=1 min=1"), "ok\n");
	assert_string_equal(ask_on("dance"), "error unknown request 'dance'\n");
	assert_string_equal(node_ask(node, "set rank=1 min=2"), "ok\n");
	assert_int_equal(orders[0].min, 2);
	node_kernel.gone = NODE_FIRST_CLIENT;
	mal_control_serve(node);
	assert_int_equal(orders[0].min, 0);
	assert_int_equal(orders[1].min, 2);
}

/* Who holds orders and reads no answers is disconnected, and nobody waits for it. */
static void the_deaf_hold_nothing(void **state)
{
	const struct mal_order *orders = node->deciding.orders.ranks;

	(void)state;
	assert_string_equal(node_ask(node, "hold"), "ok\n");
	assert_string_equal(ask_on("set rank=0 min=2"), "ok\n");
	node_kernel.deaf = true;
	ask_on("status");
	assert_int_equal(orders[0].min, 0);
	node_kernel.deaf = false;
	for (int i = 0; i < 16; i++)
		assert_string_equal(node_ask(node, "hold"), "ok\n");
}

/* Each has its turn, also where all who hold orders send without end. */
static void who_floods_keeps_nobody_away(void **state)
{
	uint32_t wake;

	(void)state;
	for (int i = 0; i < 16; i++)
		assert_string_equal(node_ask(node, "hold"), "ok\n");
	node_kernel.floods = true;
	wake = node_segment()->header->wake;
	node_clients_wait(node, 1, "dance");
	assert_int_equal(node_clients_left(), 1);
	/* What they have sent besides is not forgotten. */
	assert_int_equal(node_segment()->header->wake, wake + 1);
	mal_control_serve(node);
	assert_int_equal(node_clients_left(), 0);
	assert_int_equal(node_segment()->header->wake, wake + 2);
	node_kernel.floods = false;
}

/* Who is silent has a place until others need it, and keeps nobody from an answer. */
static void silent_clients_wait_alone(void **state)
{
	(void)state;
	node_clients_wait(node, 100, NULL);
	assert_int_equal(node_clients_left(), 100 - 16);
	while (node_clients_left())
		mal_control_serve(node);
	assert_non_null(node_ask(node, "status"));
	node_kernel.ns += 1000000000;
	mal_control_serve(node);
	assert_string_equal(node_ask(node, "events"), "ok\n");
}

/* A step without a socket is asked by nobody. */
static void nobody_can_ask(void **state)
{
	uint32_t wake = node_segment()->header->wake;

	(void)state;
	mal_control_serve(node);
	assert_int_equal(node_segment()->header->wake, wake);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(wrong_requests_change_nothing),
		CASE(each_request_is_carried_out),
		CASE(swaps),
		CASE(only_allowed_policies_can_be_set),
		CASE(observed_steps_take_no_orders),
		CASE(ranks_come_first),
		CASE(events_cost_readers),
		CASE(held_orders_end),
		CASE(the_deaf_hold_nothing),
		CASE(who_floods_keeps_nobody_away),
		CASE(silent_clients_wait_alone),
		CASE(nobody_can_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_summaries.c: a step over several nodes: what each node says of itself, and what comes of all
 * of them.
 */
#include "t/unit/node_controller.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/controller/report/imbalance.h"
#include "libmalleable/controller/report/summaries.h"

static struct mal_controller *node;

static int set_up(void **state)
{
	(void)state;
	node = node_start(2, 2, "--policy=observe --step=7.0 --node=n1 --nodes=2");
	node_window(node, 1, (const double[]){2, 1});
	node_window(node, 1, (const double[]){2, 1});
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	node_close(node);
	return 0;
}

#define OURS \
	"{\"node\":\"n1\",\"line\":\"step 7.0 on n1: observe, 2 ranks, 4 CPUs, 0 lends, 0 moves: "

/* This node says what it is, its line of the report, its ranks and their work. */
static void node_describes_itself(void **state)
{
	const char *answer = node_ask(node, "node n1");

	(void)state;
	assert_memory_equal(answer, OURS, strlen(OURS));
	assert_non_null(strstr(answer, "\"cpus\":4,\"ranks\":2,\"work_s\":3.0}"));
	assert_int_equal(mal_summaries_part(node), MAL_NODES_ONE);
	/* Once more, with another name: the last one holds. */
	assert_memory_equal(node_ask(node, "node m1"), "{\"node\":\"m1\"", 12);
}

/* Names of hosts, and nothing else. */
static void describes_nothing_else(void **state)
{
	static const char *const requests[] = {"node n 1", "node ",	"node  n1",
					       "node n/1", "node n\"1", "node n\n1"};

	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		assert_string_equal(node_ask(node, requests[i]), "");
	assert_string_equal(node_ask(node, "nodes {}"), "error all nodes have reported\n");
}

#define OTHER "\"line\": \"step 7.0 on n2: fine\", \"cpus\": 4, \"ranks\": 2, \"work_s\": 12.0"

static void hear_of_other(void)
{
	assert_memory_equal(node_ask(node, "node n1"), OURS, strlen(OURS));
	assert_string_equal(node_ask(node, "nodes {\"node\": \"n2\", " OTHER "}"), "ok\n");
}

/* What does not describe a node is not believed. */
static void others_are_checked(void **state)
{
	static const char *const wrong[] = {
		"",
		"[]",
		"{",
		"{\"node\": \"n 2\", " OTHER "}",
		"{\"node\": 2, " OTHER "}",
		"{\"node\": \"n2\", \"line\": \"a\\nb\", \"cpus\": 4, \"ranks\": 1, \"work_s\": "
		"6.0}",
		"{\"node\": \"n2\", \"line\": \"a\", \"cpus\": 0, \"ranks\": 1, \"work_s\": 6.0}",
		"{\"node\": \"n2\", \"line\": \"a\", \"cpus\": 1099511627776, \"ranks\": 1, "
		"\"work_s\": 6.0}",
		"{\"node\": \"n2\", \"line\": \"a\", \"cpus\": 4, \"ranks\": 0, \"work_s\": 6.0}",
		"{\"node\": \"n2\", \"line\": \"a\", \"cpus\": 4, \"ranks\": -1, \"work_s\": 6.0}",
		"{\"node\": \"n2\", \"line\": \"a\", \"cpus\": 4, \"ranks\": 2000, \"work_s\": "
		"6.0}",
		"{\"node\": \"n2\", \"line\": \"a\", \"cpus\": 4, \"ranks\": [1], \"work_s\": 6.0}",
		"{\"node\": \"n2\", \"line\": \"a\", \"cpus\": 4, \"ranks\": 1, \"work_s\": -1}",
		"{\"node\": \"n2\", \"line\": \"a\", \"cpus\": 4, \"ranks\": 1, \"work_s\": 1e13}",
		"{\"node\": \"n2\", \"line\": \"a\", \"cpus\": 4, \"ranks\": 1, \"work_s\": [6.0]}",
	};

	(void)state;
	assert_memory_equal(node_ask(node, "node n1"), OURS, strlen(OURS));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char request[512];

		snprintf(request, sizeof(request), "nodes %s", wrong[i]);
		assert_string_equal(node_ask(node, request), "error malformed node summary\n");
	}
	assert_string_equal(node_ask(node, "nodes {\"node\": \"n1\", " OTHER "}"),
			    "error node n1 has already reported\n");
	assert_string_equal(node_ask(node, "nodes {\"node\": \"n2\", " OTHER "}"), "ok\n");
	assert_string_equal(node_ask(node, "nodes {\"node\": \"n3\", " OTHER "}"),
			    "error all nodes have reported\n");
}

static const char *say(void)
{
	static char text[4096];

	text[mal_imbalance_text(node, text, sizeof(text))] = '\0';
	return text;
}

/* Work of 3 here, 12 there. */
static void balance_between_nodes(void **state)
{
	const char *text;

	(void)state;
	hear_of_other();
	assert_int_equal(mal_summaries_part(node), MAL_NODES_ALL);
	text = say();
	assert_non_null(strstr(text, "step 7.0 on n1: observe"));
	assert_non_null(strstr(text, "\nstep 7.0 on n2: fine\n"));
	assert_non_null(strstr(text, "\n2 nodes, 4 ranks, 8 CPUs: load balance between nodes "
				     "(mean/max) 62.5 %, most work "
				     "per CPU on n2\n"));
}

static void balance_in_json(void **state)
{
	json_t *object;
	char *text;

	(void)state;
	object = mal_imbalance_json(node);
	assert_true(json_is_null(object));
	json_decref(object);
	hear_of_other();
	object = mal_imbalance_json(node);
	text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(4));
	assert_string_equal(text, "{\"nodes\":2,\"load_balance\":0.625,\"per_node\":["
				  "{\"node\":\"n1\",\"ranks\":2,\"cpus\":4,\"work_s\":3.0},"
				  "{\"node\":\"n2\",\"ranks\":2,\"cpus\":4,\"work_s\":12.0}]}");
	free(text);
	json_decref(object);
}

/*
 * Of many nodes those with most and with least work have a line; one that said nothing is counted.
 */
static void most_and_least_loaded_nodes_have_lines(void **state)
{
	const char *text;

	(void)state;
	node_close(node);
	node = node_start(2, 2, "--policy=observe --step=7.0 --node=n1 --nodes=8");
	node_begin(node);
	assert_memory_equal(node_ask(node, "node n1"), OURS, strlen(OURS));
	for (unsigned int i = 2; i < 8; i++) {
		char request[256];

		snprintf(request, sizeof(request),
			 "nodes {\"node\": \"n%u\", \"line\": \"line %u\", \"cpus\": 2, \"ranks\": "
			 "1, "
			 "\"work_s\": %u}",
			 i, i, i == 4 ? 5 : i);
		assert_string_equal(node_ask(node, request), "ok\n");
	}
	text = say();
	assert_memory_equal(
		text, "line 7\nline 6\n... and 3 nodes in between:\nline 2\nstep 7.0 on n1", 63);
	assert_non_null(strstr(text, "\nno report from 1 of 8 nodes\n"));
	assert_non_null(strstr(text, "\n7 nodes, 8 ranks, 16 CPUs: load balance between nodes"));
	/* There are no more: a launcher used some of the job's nodes. */
	assert_string_equal(node_ask(node, "of 6"), "error not a number of nodes of this step\n");
	assert_string_equal(node_ask(node, "of 9"), "error not a number of nodes of this step\n");
	assert_string_equal(node_ask(node, "of 7"), "ok\n");
	assert_null(strstr(say(), "did not say"));
}

/* Another node's controller reports on this one too. */
static void another_controller_may_report(void **state)
{
	json_t *object;

	(void)state;
	hear_of_other();
	assert_string_equal(node_ask(node, "elsewhere"), "ok\n");
	assert_int_equal(mal_summaries_part(node), MAL_NODES_NONE);
	object = mal_imbalance_json(node);
	assert_true(json_is_null(object));
	json_decref(object);
	node_close(node);
	node = node_start(2, 2, "--policy=observe");
	assert_int_equal(mal_summaries_part(node), MAL_NODES_ONE);
	assert_string_equal(node_ask(node, "node n1"), "");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(node_describes_itself),
		CASE(describes_nothing_else),
		CASE(others_are_checked),
		CASE(balance_between_nodes),
		CASE(balance_in_json),
		CASE(most_and_least_loaded_nodes_have_lines),
		CASE(another_controller_may_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

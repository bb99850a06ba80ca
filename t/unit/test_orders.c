/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_orders.c: orders from outside, alone and above policies. */
#include "t/unit/policy_view.h"

#include <stdlib.h>

#include "policies/decide/decision.h"
#include "policies/interface/builtin.h"
#include "policies/interface/limits.h"
#include "policies/interface/plan_check.h"
#include "policies/interface/registry.h"

static void open_orders(struct mal_orders *orders, const struct policy_view *node)
{
	mal_orders_open(orders, node->view.rank_count, node->topology.cpu_count);
	assert_false(mal_orders_any(orders));
}

/* Set the CPUs FIRST to LAST for RANK. */
static int set_range(struct mal_orders *orders, unsigned int rank, unsigned int first,
		     unsigned int last)
{
	bool chosen[MAX * 8] = {false};

	for (unsigned int cpu = first; cpu <= last; cpu++)
		chosen[cpu] = true;
	return mal_orders_set_cpus(orders, rank, chosen, NULL);
}

/* Carry orders out as the controller does: without POLICY, or above it. */
static enum mal_decision obey(struct policy_view *node, const struct mal_orders *orders,
			      const struct mal_policy *policy, void *state)
{
	const char *rejection;
	enum mal_decision decision;

	node->plan =
		(struct mal_plan){.bind = !policy, .count = node->count, .owner = node->new_owner};
	decision = mal_decide_under(orders, policy, state, &node->view, &node->plan, &rejection);
	if (decision == MAL_DECISION_REJECTED)
		print_message("# unfit: %s\n", rejection);
	return decision;
}

static void exact_cpus_are_given(void **state)
{
	static struct policy_view node;
	struct mal_orders orders;

	(void)state;
	make_view(&node, 4, 4, 4);
	open_orders(&orders, &node);
	assert_int_equal(set_range(&orders, 1, 0, 1), 0);
	assert_int_equal(mal_orders_check(&orders, &node.view, NULL), 0);
	assert_int_equal(obey(&node, &orders, NULL, NULL), MAL_DECISION_MADE);
	assert_true(node.plan.move);
	for (unsigned int cpu = 0; cpu < 16; cpu++)
		assert_int_equal(node.new_owner[cpu] == 1, cpu < 2);
	/* The CPUs that rank 1 left went to the ranks with fewest: 14 for three. */
	assert_int_equal(node.count[0], 5);
	/* Nothing more moves then. */
	memcpy(node.owner, node.new_owner, sizeof(node.owner));
	assert_int_equal(obey(&node, &orders, NULL, NULL), MAL_DECISION_MADE);
	assert_false(node.plan.move);
}

/* All CPUs of rank 0 are taken away: it gets one of another rank. */
static void nobody_is_left_without(void **state)
{
	static struct policy_view node;
	struct mal_orders orders;

	(void)state;
	make_view(&node, 3, 2, 2);
	open_orders(&orders, &node);
	assert_int_equal(set_range(&orders, 2, 0, 3), 0);
	assert_int_equal(mal_orders_check(&orders, &node.view, NULL), 0);
	assert_int_equal(obey(&node, &orders, NULL, NULL), MAL_DECISION_MADE);
	assert_int_equal(node.count[0], 1);
	assert_int_equal(node.count[1], 1);
	assert_int_equal(node.count[2], 4);
}

static void bounds_hold(void **state)
{
	static struct policy_view node;
	struct mal_orders orders;

	(void)state;
	make_view(&node, 4, 4, 4);
	open_orders(&orders, &node);
	assert_int_equal(mal_orders_set_bounds(&orders, 0, 7, 0, NULL), 0);
	assert_int_equal(mal_orders_set_bounds(&orders, 3, 0, 2, NULL), 0);
	assert_int_equal(mal_orders_check(&orders, &node.view, NULL), 0);
	assert_int_equal(obey(&node, &orders, NULL, NULL), MAL_DECISION_MADE);
	assert_int_equal(node.count[0], 7);
	assert_int_equal(node.count[3], 2);
	assert_null(mal_plan_check(&node.view, &node.plan));
	mal_orders_clear_rank(&orders, 0);
	mal_orders_clear_rank(&orders, 3);
	assert_false(mal_orders_any(&orders));
}

/* The administrator's minimum for every rank. */
static void every_rank_keeps_the_floor(void **state)
{
	static const unsigned int floors[] = {3, 4, 9};
	static const unsigned int expected[] = {3, 4, 4};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		static struct policy_view node;
		struct mal_orders orders;
		void *policy = create(&mal_policy_sabo);

		make_view(&node, 4, 4, 4);
		node.samples[0].work_s = 100;
		open_orders(&orders, &node);
		orders.floor = floors[i];
		assert_true(mal_orders_any(&orders));
		assert_int_equal(mal_orders_check(&orders, &node.view, NULL), 0);
		assert_int_equal(obey(&node, &orders, &mal_policy_sabo, policy), MAL_DECISION_MADE);
		for (unsigned int rank = 1; rank < 4; rank++)
			assert_int_equal(node.count[rank], expected[i]);
		mal_policy_sabo.destroy(policy);
	}
}

static void what_cannot_be_is_refused(void **state)
{
	static struct policy_view node;
	struct mal_orders orders;
	struct mal_error err;

	(void)state;
	make_view(&node, 2, 2, 2);
	open_orders(&orders, &node);
	assert_int_equal(mal_orders_set_bounds(&orders, 0, 3, 2, &err), -1);
	assert_int_equal(mal_orders_set_bounds(&orders, 0, 4, 0, &err), 0);
	assert_int_equal(mal_orders_check(&orders, &node.view, &err), -1);
	assert_non_null(strstr(err.text, "need at least 5 CPUs"));
	mal_orders_clear_rank(&orders, 0);
	assert_int_equal(set_range(&orders, 0, 0, 0), 0);
	assert_int_equal(set_range(&orders, 1, 0, 1), -1);
	mal_orders_clear_rank(&orders, 1);
	assert_int_equal(mal_orders_set_bounds(&orders, 1, 0, 2, &err), 0);
	assert_int_equal(mal_orders_check(&orders, &node.view, &err), -1);
	assert_non_null(strstr(err.text, "belong to no rank"));
	assert_int_equal(set_range(&orders, 1, 3, 2), -1);
}

/* Orders become impossible as ranks end: the policy decides alone. */
static void impossible_orders_leave_it_to_the_policy(void **state)
{
	static struct policy_view node;
	struct mal_orders orders;
	void *policy = create(&mal_policy_auto);

	(void)state;
	make_view(&node, 2, 4, 4);
	node.samples[0].work_s = node.samples[1].work_s = 4;
	open_orders(&orders, &node);
	assert_int_equal(set_range(&orders, 0, 0, 1), 0);
	node.samples[1] = (struct mal_sample){.running = false};
	assert_int_equal(obey(&node, &orders, &mal_policy_auto, policy), MAL_DECISION_MADE);
	assert_false(node.plan.move);
	mal_policy_auto.destroy(policy);
}

/* A step starts under orders: there are no samples yet, and no rank to count. */
static void a_step_starts_under_orders(void **state)
{
	static struct policy_view node;
	struct mal_orders orders;
	void *policy = create(&mal_policy_auto);

	(void)state;
	make_view(&node, 2, 1, 2);
	node.view.samples = NULL;
	open_orders(&orders, &node);
	orders.floor = 2;
	assert_int_equal(obey(&node, &orders, &mal_policy_auto, policy), MAL_DECISION_MADE);
	assert_true(node.plan.lend);
	assert_int_equal(obey(&node, &orders, NULL, NULL), MAL_DECISION_NONE);
	mal_policy_auto.destroy(policy);
}

/* Without an order and a policy nothing is decided, and nothing of an earlier decision is said. */
static void nothing_to_decide(void **state)
{
	static struct policy_view node;
	struct mal_orders orders;
	const char *rejection = "that of before";

	(void)state;
	make_view(&node, 2, 2, 2);
	open_orders(&orders, &node);
	node.plan = (struct mal_plan){.count = node.count, .owner = node.new_owner};
	assert_int_equal(mal_decide_under(&orders, NULL, NULL, &node.view, &node.plan, &rejection),
			 MAL_DECISION_NONE);
	assert_null(rejection);
}

/* What orders leave over must be of use to somebody, and somebody must be there for it. */
static void what_is_left_over(void **state)
{
	static struct policy_view node;
	struct mal_orders orders;

	(void)state;
	make_view(&node, 2, 2, 2);
	open_orders(&orders, &node);
	node.samples[1].max = 2;
	assert_int_equal(set_range(&orders, 0, 0, 0), 0);
	assert_int_equal(obey(&node, &orders, NULL, NULL), MAL_DECISION_REJECTED);
	node.samples[1].max = 3;
	assert_int_equal(obey(&node, &orders, NULL, NULL), MAL_DECISION_MADE);
	assert_int_equal(node.count[1], 3);
	assert_int_equal(set_range(&orders, 1, 2, 2), 0);
	assert_int_equal(obey(&node, &orders, NULL, NULL), MAL_DECISION_NONE);
}

/* A rank may be allowed fewer than the floor. */
static void a_maximum_goes_below_the_floor(void **state)
{
	static struct policy_view node;
	struct mal_orders orders;

	(void)state;
	make_view(&node, 2, 4, 4);
	open_orders(&orders, &node);
	orders.floor = 3;
	assert_int_equal(mal_orders_set_bounds(&orders, 0, 0, 1, NULL), 0);
	assert_int_equal(obey(&node, &orders, NULL, NULL), MAL_DECISION_MADE);
	assert_int_equal(node.count[0], 1);
	assert_int_equal(node.count[1], 7);
}

/*
 * Rank 2 takes all that rank 0 has and leaves nothing: rank 1 gives one of several, but not its
 * last.
 */
static void a_neighbour_gives_one(void **state)
{
	for (unsigned int cpus = 2; cpus-- > 0;) {
		static struct policy_view node;
		struct mal_orders orders;
		bool chosen[6] = {false};

		(void)state;
		make_view(&node, 3, 1 + cpus, 1);
		open_orders(&orders, &node);
		for (unsigned int cpu = 0; cpu < 3 + 3 * cpus; cpu++)
			chosen[cpu] = node.owner[cpu] != 1;
		assert_int_equal(mal_orders_set_cpus(&orders, 2, chosen, NULL), 0);
		assert_int_equal(obey(&node, &orders, NULL, NULL),
				 cpus ? MAL_DECISION_MADE : MAL_DECISION_NONE);
		if (cpus) {
			assert_int_equal(node.count[0], 1);
			assert_int_equal(node.count[1], 1);
			assert_int_equal(node.count[2], 4);
		}
	}
}

/* Bounds that nobody can keep any more, since a rank has ended, are passed over. */
static void bounds_that_cannot_be_kept(void **state)
{
	static struct policy_view node;
	struct mal_orders orders;

	(void)state;
	make_view(&node, 2, 4, 4);
	open_orders(&orders, &node);
	assert_int_equal(mal_orders_set_bounds(&orders, 0, 0, 2, NULL), 0);
	node.samples[1] = (struct mal_sample){.running = false};
	assert_int_equal(mal_orders_check(&orders, &node.view, NULL), -1);
	assert_int_equal(obey(&node, &orders, NULL, NULL), MAL_DECISION_MADE);
	assert_false(node.plan.move);
}

static int break_down(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	(void)state;
	(void)view;
	plan->broken = "it crashed";
	return 0;
}

static void what_is_not_decided_is_not_ordered(void **state)
{
	const struct mal_policy broken = {.abi = MAL_POLICY_ABI, .name = "x", .decide = break_down};
	static struct policy_view node;
	struct mal_orders orders;

	(void)state;
	make_view(&node, 2, 4, 4);
	open_orders(&orders, &node);
	assert_int_equal(mal_orders_set_bounds(&orders, 0, 0, 2, NULL), 0);
	assert_int_equal(obey(&node, &orders, &broken, NULL), MAL_DECISION_REJECTED);
	node.topology.cpu_count = MAL_MAX_CPUS + 1;
	assert_int_equal(obey(&node, &orders, &broken, NULL), MAL_DECISION_NONE);
}

static bool is_kept(const struct mal_orders *orders, const struct policy_view *node)
{
	for (unsigned int rank = 0; rank < node->view.rank_count; rank++) {
		const struct mal_order *order = &orders->ranks[rank];

		if (!order->exact && !order->max && node->count[rank] < orders->floor)
			return false;
		if (node->count[rank] < order->min ||
		    (order->max && node->count[rank] > order->max))
			return false;
	}
	for (unsigned int cpu = 0; cpu < orders->cpu_count; cpu++)
		if (orders->cpus[cpu] < orders->rank_count
			    ? node->new_owner[cpu] != orders->cpus[cpu]
			    : orders->ranks[node->new_owner[cpu]].exact)
			return false;
	return true;
}

static void give_random_order(struct mal_orders *orders, unsigned int rank, unsigned int cpus)
{
	unsigned int first = (unsigned int)rand() % cpus;

	mal_orders_clear_rank(orders, rank);
	if (rand() % 3 == 0) {
		if (set_range(orders, rank, first,
			      first + (unsigned int)rand() %
					      (cpus - first < 4 ? cpus - first : 4)) < 0)
			mal_orders_clear_rank(orders, rank);
	} else if (rand() % 2) {
		mal_orders_set_bounds(orders, rank, (unsigned int)rand() % 5,
				      5 + (unsigned int)rand() % 4, NULL);
	}
}

/* For any policy and orders: plans are valid, and orders that can be carried out are. */
static void orders_stand_above_every_policy(void **state)
{
	static struct policy_view node;
	const struct mal_policy *policy;
	unsigned int asked = 0;

	(void)state;
	srand(3);
	for (size_t i = 0; (policy = mal_policy_at(i)); i++) {
		struct mal_orders orders;
		void *policy_state = create(policy);

		if (!policy->decide)
			continue;
		make_view(&node, 6, 4, 4);
		open_orders(&orders, &node);
		for (int round = 0; round < 500; round++) {
			give_random_order(&orders, (unsigned int)rand() % 6, 24);
			orders.floor = (unsigned int)rand() % 4;
			if (mal_orders_check(&orders, &node.view, NULL) < 0)
				mal_orders_clear_rank(&orders, (unsigned int)rand() % 6);
			for (unsigned int rank = 0; rank < 6; rank++) {
				node.samples[rank].work_s = 1 + rand() % 100;
				node.samples[rank].cpus = 0;
				for (unsigned int cpu = 0; cpu < 24; cpu++)
					node.samples[rank].cpus += node.owner[cpu] == rank;
			}
			if (mal_orders_check(&orders, &node.view, NULL) < 0 ||
			    obey(&node, &orders, policy, policy_state) != MAL_DECISION_MADE ||
			    !node.plan.bind)
				continue;
			asked++;
			assert_null(mal_plan_check(&node.view, &node.plan));
			assert_true(is_kept(&orders, &node));
			memcpy(node.owner, node.new_owner, sizeof(node.owner));
		}
		if (policy->destroy)
			policy->destroy(policy_state);
	}
	assert_true(asked > 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_cpus_are_given),
		cmocka_unit_test(nobody_is_left_without),
		cmocka_unit_test(every_rank_keeps_the_floor),
		cmocka_unit_test(bounds_hold),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(impossible_orders_leave_it_to_the_policy),
		cmocka_unit_test(a_step_starts_under_orders),
		cmocka_unit_test(nothing_to_decide),
		cmocka_unit_test(what_is_left_over),
		cmocka_unit_test(a_maximum_goes_below_the_floor),
		cmocka_unit_test(a_neighbour_gives_one),
		cmocka_unit_test(bounds_that_cannot_be_kept),
		cmocka_unit_test(what_is_not_decided_is_not_ordered),
		cmocka_unit_test(orders_stand_above_every_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

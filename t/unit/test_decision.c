/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_decision.c: asking a policy, and the check of the plan that it makes. */
#include "t/unit/policy_view.h"

#include "policies/interface/builtin.h"
#include "policies/interface/limits.h"
#include "policies/interface/plan_check.h"

static void flawed_plans_are_found(void **state)
{
	static struct policy_view node;

	(void)state;
	make_view(&node, 2, 2, 2);
	node.plan.move = node.plan.bind = true;
	node.count[0] = node.count[1] = 2;
	memcpy(node.new_owner, (unsigned int[]){0, 0, 1, 1}, 4 * sizeof(unsigned int));
	assert_null(mal_plan_check(&node.view, &node.plan));
	node.new_owner[3] = 7;
	assert_non_null(strstr(mal_plan_check(&node.view, &node.plan), "does not exist"));
	node.new_owner[3] = node.new_owner[2] = 0;
	assert_non_null(strstr(mal_plan_check(&node.view, &node.plan), "without a CPU"));
	node.new_owner[3] = 1;
	assert_non_null(strstr(mal_plan_check(&node.view, &node.plan), "counts"));
	node.plan.bind = false;
	assert_non_null(strstr(mal_plan_check(&node.view, &node.plan), "forbids"));
}

/*
 * Owners of CPUs, counts by rank, and what the check says of them. Rank 2 has ended; CPU 5 is
 * nobody's.
 */
static void each_flaw_has_its_line(void **state)
{
	static const struct {
		unsigned int owner[6], count[3];
		const char *says;
	} cases[] = {
		{{0, 0, 1, 1, 2, 3}, {2, 2, 1}, NULL},
		{{0, 1, 1, 1, 2, 3}, {1, 3, 1}, NULL},
		/* What an ended rank has stays its own: it may come again. */
		{{0, 0, 1, 2, 2, 3}, {2, 1, 2}, "does not run"},
		{{0, 0, 1, 1, 2, 4}, {2, 2, 1}, "does not exist"},
		{{0, 0, 0, 1, 2, 3}, {3, 1, 1}, "more CPUs than it can use"},
		{{0, 0, 1, 1, 2, 0}, {2, 2, 1}, "counts"},
		{{1, 1, 1, 1, 2, 3}, {0, 4, 1}, "without a CPU"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static struct policy_view node;
		const char *flaw;

		make_view(&node, 3, 2, 2);
		node.samples[0].max = 2;
		node.samples[2] = (struct mal_sample){.running = false};
		node.owner[5] = 3;
		node.plan.move = node.plan.bind = true;
		memcpy(node.new_owner, cases[i].owner, sizeof(cases[i].owner));
		memcpy(node.count, cases[i].count, sizeof(cases[i].count));
		flaw = mal_plan_check(&node.view, &node.plan);
		if (!flaw != !cases[i].says || (flaw && !strstr(flaw, cases[i].says)))
			fail_msg("case %zu: '%s', not '%s'", i, flaw ? flaw : "",
				 cases[i].says ? cases[i].says : "");
		/* What is not to be carried out has no flaw. */
		node.plan.move = false;
		assert_null(mal_plan_check(&node.view, &node.plan));
	}
}

static void more_ranks_than_any_step_are_refused(void **state)
{
	static struct policy_view node;
	const char *rejection = "";

	(void)state;
	make_view(&node, 2, 2, 2);
	node.plan.move = node.plan.bind = true;
	node.view.rank_count = MAL_MAX_RANKS + 1;
	assert_non_null(strstr(mal_plan_check(&node.view, &node.plan), "more ranks than any step"));
	assert_int_equal(mal_decide(&mal_policy_auto, NULL, &node.view, &node.plan, &rejection),
			 MAL_DECISION_NONE);
	assert_null(rejection);
	node.view.rank_count = 2;
	node.topology.cpu_count = MAL_MAX_CPUS + 1;
	assert_int_equal(mal_decide(&mal_policy_auto, NULL, &node.view, &node.plan, &rejection),
			 MAL_DECISION_NONE);
}

/* What the policy below does; USE as it found it is left in seen_use. */
static struct {
	int result;
	bool move;
	const char *broken;
	unsigned int seen_use, seen_count;
} told;

static int obey(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	(void)state;
	(void)view;
	told.seen_use = plan->use ? plan->use[0] : 0;
	told.seen_count = plan->count[0];
	plan->bind = plan->lend = true;
	plan->move = told.move;
	plan->broken = told.broken;
	return told.result;
}

static enum mal_decision ask(struct policy_view *node, const char **rejection)
{
	static const struct mal_policy policy = {
		.abi = MAL_POLICY_ABI, .name = "x", .decide = obey};

	return mal_decide(&policy, NULL, &node->view, &node->plan, rejection);
}

static void a_policy_may_have_no_opinion(void **state)
{
	static struct policy_view node;
	const char *rejection = "";

	(void)state;
	make_view(&node, 2, 2, 2);
	told.result = -1;
	assert_int_equal(ask(&node, &rejection), MAL_DECISION_NONE);
	assert_null(rejection);
	told.result = 0;
}

static void who_runs_a_broken_policy_says_why(void **state)
{
	static struct policy_view node;
	const char *rejection;

	(void)state;
	make_view(&node, 2, 2, 2);
	told.broken = "it crashed";
	assert_int_equal(ask(&node, &rejection), MAL_DECISION_REJECTED);
	assert_string_equal(rejection, "it crashed");
	told.broken = NULL;
}

/* A policy starts from the present numbers, and from a plan that uses all CPUs. */
static void a_plan_starts_from_what_is(void **state)
{
	static struct policy_view node;
	unsigned int use[2] = {7, 7};
	const char *rejection;

	(void)state;
	make_view(&node, 2, 2, 2);
	node.plan.use = use;
	node.count[0] = 9;
	told.move = true;
	assert_int_equal(ask(&node, &rejection), MAL_DECISION_MADE);
	assert_int_equal(told.seen_use, 0);
	assert_int_equal(told.seen_count, 2);
	assert_memory_equal(node.new_owner, node.owner, 4 * sizeof(unsigned int));
	/* Before there are samples there is nothing to move. */
	node.view.samples = NULL;
	assert_int_equal(ask(&node, &rejection), MAL_DECISION_MADE);
	assert_int_equal(told.seen_count, 0);
	assert_false(node.plan.move);
	assert_true(node.plan.lend);
	told.move = false;
}

static int too_many(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	(void)state;
	plan->bind = plan->move = true;
	for (unsigned int rank = 0; rank < view->rank_count; rank++)
		plan->count[rank] = 0x80000000u;
	return 0;
}

static bool was_mapped;

static void note_map(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	(void)state;
	(void)view;
	(void)plan;
	was_mapped = true;
}

/* Its differences to other numbers are no numbers. */
static void impossible_counts_are_not_mapped(void **state)
{
	const struct mal_policy policy = {
		.abi = MAL_POLICY_ABI, .name = "x", .decide = too_many, .map = note_map};
	struct policy_view node;
	const char *rejection;

	(void)state;
	make_view(&node, 2, 2, 2);
	assert_int_equal(mal_decide(&policy, NULL, &node.view, &node.plan, &rejection),
			 MAL_DECISION_REJECTED);
	assert_non_null(strstr(rejection, "counts"));
	assert_false(was_mapped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flawed_plans_are_found),
		cmocka_unit_test(each_flaw_has_its_line),
		cmocka_unit_test(more_ranks_than_any_step_are_refused),
		cmocka_unit_test(a_policy_may_have_no_opinion),
		cmocka_unit_test(who_runs_a_broken_policy_says_why),
		cmocka_unit_test(a_plan_starts_from_what_is),
		cmocka_unit_test(impossible_counts_are_not_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_planning.c: from samples to a plan in the segment: rules, plans that are unfit, orders, the
 * way home, the administrator's switch.
 */
#include "t/unit/node_controller.h"

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/admin_switch.h"
#include "libmalleable/controller/planning.h"

static struct mal_controller *node;

static int set_up(void **state)
{
	(void)state;
	node = node_start(3, 2, "--policy=puppet --off-file=/off");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	node_close(node);
	return 0;
}

/* But for whether ranks wait. */
static uint32_t rules(void)
{
	return node_segment()->header->rules & ~(uint32_t)MAL_RULE_AWAIT;
}

static void decide(struct mal_plan plan, const unsigned int *count)
{
	node_puppet(&plan, count);
	node_begin(node);
}

/* Ranks wait for decisions while CPUs move or a policy tries something, and at first. */
static void lets_wait_for_plans(void **state)
{
	const struct mal_plan stay = {.bind = true}, brief = {.bind = true, .short_windows = true};
	_Atomic uint32_t *told = &node_segment()->header->rules;

	(void)state;
	decide(stay, NULL);
	assert_true(*told & MAL_RULE_AWAIT);
	for (unsigned int i = 0; i < 8; i++)
		decide(stay, NULL);
	assert_false(*told & MAL_RULE_AWAIT);
	decide(brief, NULL);
	assert_true(*told & MAL_RULE_AWAIT);
	decide(stay, NULL);
	assert_false(*told & MAL_RULE_AWAIT);
	decide((struct mal_plan){.bind = true, .move = true}, (const unsigned int[]){3, 2, 1});
	assert_true(*told & MAL_RULE_AWAIT);
	decide(stay, NULL);
	assert_true(*told & MAL_RULE_AWAIT);
}

/* Each word of a policy about lending is a rule that the ranks read. */
static void rules_reach_the_ranks(void **state)
{
	(void)state;
	decide((struct mal_plan){0}, NULL);
	assert_int_equal(rules(), MAL_RULE_READY);
	decide((struct mal_plan){.bind = true}, NULL);
	assert_int_equal(rules(), MAL_RULE_READY | MAL_RULE_BIND);
	decide((struct mal_plan){.bind = true, .lend = true}, NULL);
	assert_int_equal(rules(), MAL_RULE_READY | MAL_RULE_BIND | MAL_RULE_LEND);
	decide((struct mal_plan){.bind = true,
				 .lend = true,
				 .grow = true,
				 .lending = {true, true, MAL_NEAR_ONLY, 5}},
	       NULL);
	assert_int_equal(rules(), MAL_RULE_READY | MAL_RULE_BIND | MAL_RULE_LEND | MAL_RULE_GROW |
					  MAL_RULE_KEEP_ONE | MAL_RULE_COLLECTIVES |
					  MAL_RULE_NEAR_ONLY);
	assert_int_equal(node_segment()->header->max, 5);
	decide((struct mal_plan){.bind = true, .lend = true, .lending.near = MAL_NEAR_ANY}, NULL);
	assert_int_equal(rules(),
			 MAL_RULE_READY | MAL_RULE_BIND | MAL_RULE_LEND | MAL_RULE_ANY_ORDER);
	/* Who may not bind lends nothing, whatever the policy says. */
	decide((struct mal_plan){.lend = true, .grow = true}, NULL);
	assert_int_equal(rules(), MAL_RULE_READY);
	assert_false(node_binds(node));
}

static void schedule_reaches_the_ranks(void **state)
{
	(void)state;
	decide((struct mal_plan){.schedule = {MAL_SCHEDULE_GUIDED, 7}}, NULL);
	assert_int_equal(node_segment()->header->schedule, MAL_SCHEDULE_GUIDED | 7 << 16);
}

/* CPUs that move: each has a rank, as many as it was said, and there is a new plan to be seen. */
static void moved_cpus_have_the_planned_owners(void **state)
{
	(void)state;
	decide((struct mal_plan){.bind = true, .move = true}, (const unsigned int[]){3, 2, 1});
	assert_int_equal(node_plans(node), 1);
	assert_int_equal(node_segment()->header->plan, 1);
	assert_string_equal(node_planned(1), "2-3");
	assert_int_equal(strlen(node_planned(0)), strlen("0-1,4"));
	assert_null(node_wrong(node));
	node_obey();
	assert_string_equal(node_owned(0), node_planned(0));
	assert_string_equal(node_owned(2), node_planned(2));
	assert_null(node_wrong(node));
	/* All in its place: nothing new is said. */
	node_puppet(&(struct mal_plan){.bind = true}, NULL);
	node_begin(node);
	assert_int_equal(node_plans(node), 1);
}

/* A policy without an opinion changes nothing. */
static void policy_without_opinion_changes_nothing(void **state)
{
	(void)state;
	decide((struct mal_plan){.bind = true, .lend = true}, NULL);
	node_puppet(NULL, NULL);
	node_begin(node);
	assert_int_equal(rules(), MAL_RULE_READY | MAL_RULE_BIND | MAL_RULE_LEND);
	assert_null(node_rejected(node));
	assert_false(mal_plan_make(node, NULL));
}

/* A plan that is unfit is not carried out, and its policy is not asked again. */
static void rejected(struct mal_plan plan, const unsigned int *count, const char *why)
{
	unsigned int asked, plans = node_plans(node);

	node_slot(1)->use = 1;
	decide(plan, count);
	assert_string_equal(node_rejected(node), why);
	assert_int_equal(rules(), MAL_RULE_READY);
	assert_int_equal(node_plans(node), plans);
	assert_int_equal(node_slot(1)->use, 0);
	asked = node_puppet_asked();
	node_begin(node);
	assert_int_equal(node_puppet_asked(), asked);
	assert_false(mal_plan_make(node, NULL));
}

static void leaves_rank_without(void **state)
{
	(void)state;
	rejected((struct mal_plan){.bind = true, .move = true}, (const unsigned int[]){4, 2, 0},
		 "it leaves a rank without a CPU (window 1: counts 4 2 0 of 6 CPUs, rank 2 has 0)");
}

static void gives_too_many(void **state)
{
	(void)state;
	rejected((struct mal_plan){.bind = true, .move = true}, (const unsigned int[]){7, 2, 1},
		 "its CPUs do not match its counts (window 1: counts 7 2 1 of 6 CPUs)");
}

static void moves_without_binding_are_refused(void **state)
{
	(void)state;
	rejected((struct mal_plan){.move = true}, (const unsigned int[]){3, 2, 1},
		 "it moves CPUs but forbids to bind threads (window 1: counts 3 2 1 of 6 CPUs)");
}

static void broken_policy_is_rejected_by_its_word(void **state)
{
	(void)state;
	rejected((struct mal_plan){.broken = "it ended"}, NULL, "it ended");
}

/* Another policy decides from now on; one that does not start leaves the one before. */
static void another_policy_decides_from_now_on(void **state)
{
	struct mal_error err;

	(void)state;
	decide((struct mal_plan){.broken = "it ended"}, NULL);
	assert_string_equal(node_ask(node, "set policy=lewi,keep=yes"), "ok\n");
	assert_string_equal(node_policy(node), "lewi");
	assert_null(node_rejected(node));
	assert_int_equal(rules() & (MAL_RULE_LEND | MAL_RULE_KEEP_ONE),
			 MAL_RULE_LEND | MAL_RULE_KEEP_ONE);
	node_puppet_fails(true);
	assert_string_equal(node_ask(node, "set policy=puppet"),
			    "error policy puppet does not start\n");
	assert_string_equal(node_policy(node), "lewi");
	node_puppet_fails(false);
	assert_int_equal(mal_plan_set_policy(node, NULL, NULL, &err), 0);
	assert_string_equal(node_ask(node, "set policy=external"), "ok\n");
	assert_string_equal(node_policy(node), "external");
}

/* Orders hold at once, and above what the policy decides. */
static void orders_hold_at_once(void **state)
{
	(void)state;
	node_puppet(&(struct mal_plan){.bind = true}, NULL);
	node_begin(node);
	assert_string_equal(node_ask(node, "set rank=0 cpus=0-2"), "ok\n");
	assert_string_equal(node_planned(0), "0-2");
	node_obey();
	assert_string_equal(node_owned(0), "0-2");
	decide((struct mal_plan){.bind = true, .move = true}, (const unsigned int[]){3, 2, 1});
	node_obey();
	assert_null(node_rejected(node));
	assert_string_equal(node_owned(0), "0-2");
	assert_string_equal(node_ask(node, "set rank=2 min=2"), "ok\n");
	assert_string_equal(node_ask(node, "set rank=1 min=2"),
			    "error the ranks whose CPUs are not set would need at least 4 CPUs, "
			    "and there are 3\n");
	/* The policy's again. */
	assert_string_equal(node_ask(node, "set free"), "ok\n");
	decide((struct mal_plan){.bind = true, .move = true}, (const unsigned int[]){1, 1, 4});
	node_obey();
	assert_int_equal(strlen(node_owned(0)), 1);
}

/* Back to the CPUs that Slurm gave, and no lending. */
static void ranks_go_home_and_lend_nothing(void **state)
{
	(void)state;
	decide((struct mal_plan){.bind = true, .lend = true, .move = true},
	       (const unsigned int[]){3, 2, 1});
	node_obey();
	assert_string_not_equal(node_owned(0), "0-1");
	node_slot(0)->use = 1;
	mal_plan_home(node);
	node_obey();
	assert_string_equal(node_owned(0), "0-1");
	assert_string_equal(node_owned(2), "4-5");
	assert_int_equal(rules(), MAL_RULE_READY | MAL_RULE_BIND);
	assert_int_equal(node_slot(0)->use, 0);
}

/* While they are only observed nothing is published. */
static void home_of_observed(void **state)
{
	unsigned int plans;

	(void)state;
	decide((struct mal_plan){0}, NULL);
	plans = node_plans(node);
	mal_plan_home(node);
	assert_int_equal(node_plans(node), plans);
}

/*
 * The administrator's switch is looked at once a second; ranks go home, and the policy begins anew
 * when it is back.
 */
static void admin_switch_sends_ranks_home(void **state)
{
	unsigned int asked;

	(void)state;
	decide((struct mal_plan){.bind = true, .lend = true, .move = true},
	       (const unsigned int[]){3, 2, 1});
	node_obey();
	mal_admin_switch_update(node);
	node_admin_switch(true);
	node_pass(0.5);
	mal_admin_switch_update(node);
	assert_true(rules() & MAL_RULE_LEND);
	node_pass(0.6);
	mal_admin_switch_update(node);
	assert_int_equal(rules(), MAL_RULE_READY | MAL_RULE_BIND);
	node_obey();
	assert_string_equal(node_owned(0), "0-1");
	asked = node_puppet_asked();
	node_begin(node);
	assert_int_equal(node_puppet_asked(), asked);
	assert_string_equal(node_ask(node, "set rank=0 count=3"),
			    "error balancing is switched off by the administrator\n");
	assert_non_null(strstr(node_ask(node, "status"),
			       "\"rejected\":\"switched off by the administrator\""));
	node_admin_switch(false);
	node_pass(1.1);
	mal_admin_switch_update(node);
	assert_true(rules() & MAL_RULE_LEND);
	assert_int_equal(node_puppet_asked(), asked + 1);
}

/* Without a file there is no switch. */
static void without_a_file_there_is_no_switch(void **state)
{
	(void)state;
	node_close(node);
	node = node_start(2, 1, "--policy=lewi");
	node_admin_switch(true);
	node_pass(2);
	mal_admin_switch_update(node);
	assert_true(rules() & MAL_RULE_LEND);
}

/*
 * The controller's own loop, from the first rank to the end of the step: the windows come, the plan
 * is made and carried out.
 */
static bool turn(struct mal_controller *controller, void *context)
{
	unsigned int *turns = context;
	static const double work[] = {3, 0.5, 0.5};

	(void)controller;
	if (*turns == 0)
		for (unsigned int rank = 0; rank < 3; rank++)
			node_rank_start(rank);
	node_obey();
	node_pass(1);
	for (unsigned int rank = 0; *turns > 0 && rank < 3; rank++)
		node_say(rank, work[rank], 0, 0);
	return ++*turns < 20;
}

static void loop_moves_cpus_to_the_load(void **state)
{
	unsigned int turns = 0;

	(void)state;
	node_close(node);
	node = node_open(3, 2, "--policy=auto --off-file=/off");
	node_run(node, turn, &turns);
	assert_int_equal(turns, 20);
	assert_true(node_totals(node)->windows > 10);
	assert_string_equal(node_owned(0), node_planned(0));
	assert_true(strlen(node_owned(0)) > strlen("0-1"));
	assert_null(node_wrong(node));
}

/* Before there is a window: reading takes longer than ranks wait for a plan. */
static bool first_turns(struct mal_controller *controller, void *context)
{
	unsigned int *turns = context;

	if (*turns == 2) {
		assert_int_equal(node_totals(controller)->windows, 0);
		assert_true(controller->allocation.read);
	}
	return turn(controller, turns);
}

static void places_are_read_in_time(void **state)
{
	unsigned int turns = 0;

	(void)state;
	node_close(node);
	node = node_open(3, 2, "--policy=auto --off-file=/off");
	assert_false(node->allocation.read);
	node_run(node, first_turns, &turns);
	assert_true(node_totals(node)->windows > 10);
}

static void start_ranks(void)
{
	for (unsigned int rank = 0; rank < 3; rank++)
		node_rank_start(rank);
}

/* Three ranks that may lend, for as long as EACH returns true. */
static void run_lending(bool (*each)(struct mal_controller *controller, void *context),
			void *context)
{
	node_close(node);
	node = node_open(3, 2, "--policy=puppet");
	node_puppet(&(struct mal_plan){.bind = true, .lend = true}, NULL);
	node_run(node, each, context);
}

/*
 * A window of 1.7 s behind some of 0.1 s. CPUs are moved as it begins, and the move is taken back
 * after 0.5 s, at turn 9.
 */
struct overdue {
	const char *options;
	unsigned int counts[3];	 /* of the move */
	const char *request;	 /* from outside, at turn AT */
	unsigned int at;	 /* 0: never */
	bool ends, stopped, off; /* then rank 2, and rank 0 for a while; the switch */
	unsigned int turns;	 /* 0: until the window is over */
	unsigned int turn, back; /* turns at which it was seen */
};

static void come_in_between(struct mal_controller *controller, const struct overdue *seen)
{
	if (seen->request)
		assert_string_equal(node_ask(controller, seen->request), "ok\n");
	if (seen->ends)
		node_rank_end(2);
	if (!seen->off)
		return;
	/* It is looked at once a second. */
	node_admin_switch(true);
	node_pass(1.1);
}

/* Of the time that rank 0 computed, the kernel knows little. */
static void say_stopped(void)
{
	struct mal_snapshot said;

	node_say(0, 1.5, 0, 0);
	said = node_said(0);
	said.cpu -= mal_s_to_ticks(1.5);
	node_lie(0, &said);
}

static bool overdue_turn(struct mal_controller *controller, void *context)
{
	static const double work[] = {0.1, 0.02, 0.02};
	struct overdue *seen = context;

	if (seen->turn == 0)
		start_ranks();
	if (seen->turn == 3)
		node_puppet(&(struct mal_plan){.bind = true, .lend = true, .move = true},
			    seen->counts);
	if (seen->at && seen->turn == seen->at)
		come_in_between(controller, seen);
	node_obey();
	node_pass(0.1);
	if (seen->turn > 4 && !seen->back && strcmp(node_owned(0), "0-1") == 0)
		seen->back = seen->turn;
	if (seen->stopped && seen->turn == 21)
		say_stopped();
	for (unsigned int rank = 0; (seen->turn < 4 || seen->turn > 20) && rank < 3; rank++)
		if (node_rank(controller, rank)->running || seen->turn == 0)
			node_say(rank, work[rank], 0, 0);
	return ++seen->turn < seen->turns;
}

static struct overdue run_overdue(struct overdue seen)
{
	if (!seen.counts[0])
		memcpy(seen.counts, (const unsigned int[]){3, 2, 1}, sizeof(seen.counts));
	seen.turns = seen.turns ? seen.turns : 23;
	node_close(node);
	node = node_open(3, 2, seen.options ? seen.options : "--policy=puppet");
	node_puppet(&(struct mal_plan){.bind = true, .lend = true}, NULL);
	node_run(node, overdue_turn, &seen);
	assert_null(node_wrong(node));
	return seen;
}

/* The move is taken back, and ranks still lend. The window is ascribed to the move. */
static void overdue_move_is_taken_back(void **state)
{
	struct overdue seen = run_overdue((struct overdue){0});

	(void)state;
	assert_in_range(seen.back, 4 + 4, 4 + 4 + 2);
	assert_true(rules() & MAL_RULE_LEND);
	assert_int_equal(node_sample(node, 0)->cpus, 3);
}

/* What was ordered meanwhile stays, even if it is what the policy did. */
static void overdue_with_orders(void **state)
{
	struct overdue seen =
		run_overdue((struct overdue){.request = "set rank=0 count=4", .at = 5});

	(void)state;
	assert_int_equal(seen.back, 0);
	assert_int_equal(node_sample(node, 0)->cpus, 4);
	seen = run_overdue((struct overdue){.request = "set rank=0 count=3", .at = 5});
	assert_int_equal(seen.back, 0);
	assert_int_equal(node_sample(node, 0)->cpus, 3);
	/* Or if it comes later. */
	seen = run_overdue((struct overdue){.request = "set rank=0 count=4", .at = 12});
	assert_true(seen.back);
	assert_int_equal(node_sample(node, 0)->cpus, 4);
}

/* What another policy did stays, too. */
static void overdue_with_another_policy(void **state)
{
	struct overdue seen =
		run_overdue((struct overdue){.request = "set policy=external", .at = 5});

	(void)state;
	assert_int_equal(seen.back, 0);
	assert_int_equal(node_plans(node), 1);
}

/* Switched off, ranks go home, and stay there. */
static void overdue_when_off(void **state)
{
	(void)state;
	run_overdue((struct overdue){
		.options = "--policy=puppet --off-file=/off", .off = true, .at = 5});
	assert_int_equal(node_plans(node), 2);
	assert_string_equal(node_owned(0), "0-1");
	assert_int_equal(node_sample(node, 0)->cpus, 2);
	assert_int_equal(rules(), MAL_RULE_READY | MAL_RULE_BIND);
}

/* CPUs that were withdrawn before are planned for no rank, and after that not counted. */
static void overdue_with_fewer_cpus(void **state)
{
	static const unsigned int turns[] = {5, 12};

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		run_overdue((struct overdue){.options = "--policy=puppet --idle=6-7",
					     .counts = {4, 2, 2},
					     .request = "withdraw 6-7",
					     .at = turns[i]});
		assert_string_equal(node_owned(0), "0-1");
		assert_int_equal(node_sample(node, 0)->cpus, i == 0 ? 3 : 2);
		for (unsigned int cpu = 6; cpu < 8; cpu++)
			assert_int_equal(node_segment()->cpus[cpu].target, MAL_NOBODY);
	}
}

/* The window behind one that does not count is not ascribed to the move. */
static void overdue_in_vain(void **state)
{
	(void)state;
	run_overdue((struct overdue){.ends = true, .at = 12});
	assert_int_equal(node_sample(node, 0)->cpus, 2);
	run_overdue((struct overdue){.stopped = true, .turns = 24});
	assert_int_equal(node_sample(node, 0)->cpus, 2);
}

/* What a policy does behind such a window moves nothing: taken back, it would be the move again. */
static bool overdue_again_turn(struct mal_controller *controller, void *context)
{
	struct overdue *seen = context;

	if (seen->turn < 22)
		return overdue_turn(controller, context);
	node_obey();
	node_pass(1);
	assert_string_equal(node_owned(0), "0-1");
	return ++seen->turn < 40;
}

static bool home_again_turn(struct mal_controller *controller, void *context)
{
	const struct overdue *seen = context;

	if (seen->turn == 20)
		node_puppet(&(struct mal_plan){.bind = true, .lend = true, .move = true},
			    (const unsigned int[]){2, 2, 2});
	return overdue_again_turn(controller, context);
}

static void overdue_plans_repeat_seldom(void **state)
{
	struct overdue seen = {.counts = {3, 2, 1}, .turns = 40};

	(void)state;
	run_lending(home_again_turn, &seen);
	assert_int_equal(seen.turn, 40);
}

/* Windows of five seconds from the first one on: a move has the time of one. */
static bool long_turn(struct mal_controller *controller, void *context)
{
	unsigned int *turns = context;

	(void)controller;
	if (*turns == 0)
		start_ranks();
	node_obey();
	node_pass(0.5);
	for (unsigned int rank = 0; *turns % 10 == 9 && rank < 3; rank++)
		node_say(rank, 1, 0, 0);
	if (*turns > 20)
		assert_string_not_equal(node_owned(0), "0-1");
	return ++*turns < 50;
}

static void long_windows_get_their_plan(void **state)
{
	unsigned int turns = 0;

	(void)state;
	node_close(node);
	node = node_open(3, 2, "--policy=puppet");
	node_puppet(&(struct mal_plan){.bind = true, .lend = true, .move = true},
		    (const unsigned int[]){3, 2, 1});
	node_run(node, long_turn, &turns);
	assert_int_equal(node_sample(node, 0)->cpus, 3);
}

/* A phase of all ranks ends: they give a sample if they are to. */
static void end_phase(const struct mal_header *header)
{
	for (unsigned int rank = 0; rank < 3; rank++) {
		struct mal_rank_slot *slot = node_slot(rank);

		_Atomic uint64_t *count = &slot->count.boundaries[MAL_BOUNDARY_COLLECTIVE];

		if (++*count < header->sample_at)
			continue;
		slot->snapshot.boundaries[MAL_BOUNDARY_COLLECTIVE] = *count - 1;
		node_say(rank, 0.1, 0, 0);
	}
}

/* A window of 1000 phases, as those before were short, and the next ones take 0.1 s or longer. */
struct longer {
	unsigned int turns_each; /* of 0.1 s, in a phase */
	unsigned int turn, windows;
};

static bool longer_turn(struct mal_controller *controller, void *context)
{
	struct longer *seen = context;
	struct mal_header *header = node_segment()->header;

	if (seen->turn == 0)
		start_ranks();
	node_pass(0.1);
	if (seen->turn == 3) {
		seen->windows = node_totals(controller)->windows;
		header->sample_at += 1000;
	}
	if (seen->turn < 2 || (seen->turn > 3 && seen->turn % seen->turns_each == 0))
		end_phase(header);
	return ++seen->turn < 20;
}

/* How many windows come in 1.6 s of such phases. */
static unsigned int windows_with(unsigned int turns_each)
{
	struct longer seen = {.turns_each = turns_each};

	run_lending(longer_turn, &seen);
	return (unsigned int)node_totals(node)->windows - seen.windows;
}

/* The window ends when many have ended. Few long ones may be of ranks that harm each other. */
static void longer_phases_end_the_window(void **state)
{
	(void)state;
	assert_in_range(windows_with(1), 1, 8);
	assert_int_equal(windows_with(4), 0);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(rules_reach_the_ranks),
		CASE(lets_wait_for_plans),
		CASE(schedule_reaches_the_ranks),
		CASE(moved_cpus_have_the_planned_owners),
		CASE(policy_without_opinion_changes_nothing),
		CASE(leaves_rank_without),
		CASE(gives_too_many),
		CASE(moves_without_binding_are_refused),
		CASE(broken_policy_is_rejected_by_its_word),
		CASE(another_policy_decides_from_now_on),
		CASE(orders_hold_at_once),
		CASE(ranks_go_home_and_lend_nothing),
		CASE(home_of_observed),
		CASE(admin_switch_sends_ranks_home),
		CASE(without_a_file_there_is_no_switch),
		CASE(loop_moves_cpus_to_the_load),
		CASE(places_are_read_in_time),
		CASE(overdue_move_is_taken_back),
		CASE(overdue_with_orders),
		CASE(overdue_with_another_policy),
		CASE(overdue_when_off),
		CASE(overdue_with_fewer_cpus),
		CASE(overdue_in_vain),
		CASE(overdue_plans_repeat_seldom),
		CASE(long_windows_get_their_plan),
		CASE(longer_phases_end_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

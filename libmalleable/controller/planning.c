/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* planning.c: from samples to a plan in the segment, by way of the policy. */
#include "libmalleable/controller/planning.h"

#include <string.h>

#include "libmalleable/controller/cpus/allocation.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/load/recording.h"
#include "libmalleable/controller/load/sampling.h"
#include "policies/decide/decision.h"
#include "policies/decide/rejection.h"
#include "policies/decide/windows.h"

void mal_plan_open(struct mal_controller *controller)
{
	struct mal_orders *orders = &controller->deciding_own.orders;

	mal_orders_open(orders, controller->step->segment.rank_count, controller->step->cpu_count);
	orders->floor = controller->step->arguments.min_cpus;
}

void mal_plan_close(struct mal_controller *controller)
{
	const struct mal_deciding *deciding = &controller->deciding;

	if (deciding->policy && deciding->policy->destroy)
		deciding->policy->destroy(deciding->policy_state);
}

int mal_plan_set_policy(struct mal_controller *controller, const struct mal_policy *policy,
			const double *values, struct mal_error *err)
{
	struct mal_deciding *deciding = &controller->deciding_own;
	void *state = NULL;

	if (policy && policy->create) {
		state = policy->create(values);
		if (!state)
			return mal_fail(err, "policy %s does not start", policy->name);
	}
	mal_plan_close(controller);
	deciding->policy = policy;
	deciding->policy_state = state;
	deciding->rejected = NULL;
	return 0;
}

static uint32_t rules_of_lending(const struct mal_lending *lending)
{
	uint32_t rules = MAL_RULE_LEND;

	if (lending->keep_one)
		rules |= MAL_RULE_KEEP_ONE;
	if (lending->collectives_only)
		rules |= MAL_RULE_COLLECTIVES;
	if (lending->near == MAL_NEAR_ONLY)
		rules |= MAL_RULE_NEAR_ONLY;
	if (lending->near == MAL_NEAR_ANY)
		rules |= MAL_RULE_ANY_ORDER;
	return rules;
}

static void set_rules(struct mal_controller *controller, const struct mal_plan *plan)
{
	struct mal_header *header = controller->step->segment.header;
	uint32_t rules = MAL_RULE_READY;

	controller->deciding_own.binds = plan->bind;
	if (plan->bind)
		rules |= MAL_RULE_BIND;
	/* Else the next decision is hardly a plan. */
	if (plan->bind && (plan->move || plan->short_windows ||
			   !mal_windows_are_steady(&controller->sampling.windows)))
		rules |= MAL_RULE_AWAIT;
	if (plan->bind && plan->lend)
		rules |= rules_of_lending(&plan->lending);
	if (plan->bind && plan->lend && plan->grow)
		rules |= MAL_RULE_GROW;
	atomic_store(&header->max, plan->lending.max);
	atomic_store(&header->schedule,
		     (plan->schedule.kind & 0xffff) | (plan->schedule.chunk & 0xffff) << 16);
	/* Ranks prepare their regions anew where rules are others than before. */
	if (atomic_load(&header->rules) != rules)
		atomic_store(&header->rules, rules);
}

/* NULL: each rank all of its CPUs. The ranks look again where it is new. */
static void set_use(struct mal_controller *controller, const unsigned int *use)
{
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		uint32_t count = use ? use[rank] : 0;

		if (atomic_exchange(&controller->step->segment.ranks[rank].use, count) != count)
			mal_notify_cpus_changed(controller, rank);
	}
}

static void publish(struct mal_controller *controller, const unsigned int *owner)
{
	mal_owners_plan(controller, owner);
	atomic_store(&controller->step->segment.header->plan, ++controller->deciding_own.plans);
}

static void reject(struct mal_controller *controller)
{
	struct mal_plan nothing = {0};

	controller->deciding_own.rejected = controller->deciding.rejection;
	set_rules(controller, &nothing);
	set_use(controller, NULL);
}

bool mal_plan_make(struct mal_controller *controller, const struct mal_window *window)
{
	struct mal_deciding *deciding = &controller->deciding_own;
	unsigned int count[MAL_MAX_RANKS], use[MAL_MAX_RANKS];
	unsigned int owner[MAL_MAX_CPUS], begin[MAL_MAX_CPUS];
	struct mal_topology topology = mal_allocation_topology(controller);
	struct mal_view view = {&topology, controller->step->segment.rank_count,
				window ? window->samples : NULL, window ? window->owner : begin};
	struct mal_plan plan = {.count = count, .owner = owner, .use = use};
	const char *rejection;

	if (deciding->rejected || controller->off_switch.off_now || !deciding->policy->decide)
		return false;
	if (!window)
		mal_read_owners(controller, begin);
	switch (mal_decide_under(&deciding->orders, deciding->policy, deciding->policy_state, &view,
				 &plan, &rejection)) {
	case MAL_DECISION_NONE: return false;
	case MAL_DECISION_REJECTED:
		mal_rejection_describe(rejection, &view, &plan, controller->totals.windows,
				       deciding->rejection);
		mal_recording_plan(controller, &plan, deciding->rejection);
		reject(controller);
		return false;
	case MAL_DECISION_MADE: break;
	}
	deciding->move_times = plan.move_times;
	deciding->lend_times = plan.lend_times;
	set_rules(controller, &plan);
	set_use(controller, use);
	mal_sampling_use_short_windows(controller, plan.short_windows);
	if (window)
		mal_recording_plan(controller, &plan, NULL);
	if (!plan.move)
		return false;
	publish(controller, plan.owner);
	return true;
}

void mal_plan_home(struct mal_controller *controller)
{
	unsigned int owner[MAL_MAX_CPUS];
	struct mal_plan plan = {.bind = controller->deciding.binds, .owner = owner};

	mal_read_owners(controller, owner);
	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		unsigned int home = mal_home_of(controller, controller->step->cpu[i]);

		owner[i] = home < controller->step->segment.rank_count ? home : owner[i];
	}
	set_rules(controller, &plan);
	set_use(controller, NULL);
	if (plan.bind)
		publish(controller, owner);
}

void mal_plan_begin(struct mal_controller *controller)
{
	set_use(controller, NULL);
	mal_plan_make(controller, NULL);
}

const struct mal_view *mal_planning_view(const struct mal_controller *controller,
					 struct mal_planning *planning)
{
	unsigned int ranks = controller->step->segment.rank_count;

	planning->topology = mal_allocation_topology(controller);
	planning->view =
		(struct mal_view){&planning->topology, ranks, planning->samples, planning->owner};
	mal_read_owners(controller, planning->owner);
	for (unsigned int rank = 0; rank < ranks; rank++) {
		planning->samples[rank] = controller->last[rank];
		planning->samples[rank].running = controller->ranks[rank].running;
		planning->samples[rank].cpus = 0;
	}
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (planning->owner[i] < ranks)
			planning->samples[planning->owner[i]].cpus++;
	return &planning->view;
}

/*
 * Whether ranks bring the CPUs from their owners in VIEW to those in PLAN: each keeps one until it
 * has got another (rank/cpus/cpus.c).
 */
static bool can_be_handed_over(const struct mal_view *view, const struct mal_plan *plan)
{
	unsigned int cpus = view->topology->cpu_count, owner[MAL_MAX_CPUS], count[MAL_MAX_RANKS],
		     left, before;

	memcpy(owner, view->owner, cpus * sizeof(owner[0]));
	mal_count_cpus(owner, cpus, view->rank_count, count);
	left = cpus;
	do {
		before = left;
		left = 0;
		for (unsigned int cpu = 0; cpu < cpus; cpu++) {
			unsigned int from = owner[cpu], to = plan->owner[cpu];

			if (from == to || to >= view->rank_count)
				continue;
			if (from < view->rank_count && count[from] < 2) {
				left++;
				continue;
			}
			count[to]++;
			if (from < view->rank_count)
				count[from]--;
			owner[cpu] = to;
		}
	} while (left && left < before);
	return !left;
}

int mal_plan_obey(struct mal_controller *controller, const struct mal_orders *orders,
		  struct mal_error *err)
{
	struct mal_planning planning;
	const struct mal_view *view = mal_planning_view(controller, &planning);
	unsigned int count[MAL_MAX_RANKS], owner[MAL_MAX_CPUS];
	struct mal_plan plan = {.bind = controller->deciding.binds, .count = count, .owner = owner};
	const char *rejection;
	bool move = mal_decide_under(orders, NULL, NULL, view, &plan, &rejection) ==
			    MAL_DECISION_MADE &&
		    plan.move;

	if (move && !can_be_handed_over(view, &plan))
		return mal_fail(err, "ranks of one CPU cannot swap it: each keeps it until it has "
				     "got another");
	controller->deciding_own.orders = *orders;
	if (move)
		publish(controller, plan.owner);
	return 0;
}

void mal_plan_take_back(struct mal_controller *controller, const unsigned int *owner)
{
	struct mal_planning planning;
	const struct mal_view *view = mal_planning_view(controller, &planning);
	unsigned int count[MAL_MAX_RANKS], within[MAL_MAX_CPUS];
	struct mal_plan plan = {
		.bind = controller->deciding.binds, .count = count, .owner = within};
	enum mal_decision decision;
	const char *rejection;

	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (planning.owner[i] < view->rank_count && owner[i] < view->rank_count)
			planning.owner[i] = owner[i];
	decision =
		mal_decide_under(&controller->deciding.orders, NULL, NULL, view, &plan, &rejection);
	if (decision != MAL_DECISION_REJECTED)
		publish(controller, decision == MAL_DECISION_MADE ? plan.owner : planning.owner);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* planning.c: from samples to a plan in the segment, by way of the policy. */
#include "libmalleable/controller/planning.h"

#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/load/recording.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/state/deciding.h"
#include "libmalleable/controller/state/last.h"
#include "libmalleable/controller/state/off.h"
#include "libmalleable/controller/state/ranks.h"
#include "libmalleable/controller/state/topology.h"
#include "policies/decide/orders.h"

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
	uint32_t rules = MAL_RULE_READY;

	mal_deciding_set_binds(controller, plan->bind);
	if (plan->bind)
		rules |= MAL_RULE_BIND;
	if (plan->bind && (plan->move || plan->brief || !mal_sampling_is_steady(controller)))
		rules |= MAL_RULE_AWAIT;
	if (plan->bind && plan->lend)
		rules |= rules_of_lending(&plan->lending);
	if (plan->bind && plan->lend && plan->grow)
		rules |= MAL_RULE_GROW;
	atomic_store(&controller->step->segment.header->max, plan->lending.max);
	atomic_store(&controller->step->segment.header->schedule,
		     (plan->schedule.kind & 0xffff) | (plan->schedule.chunk & 0xffff) << 16);
	mal_deciding_set_rules(controller, rules);
}

/* The ranks look again where it is new. */
static void set_use(struct mal_controller *controller, const unsigned int *use)
{
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		struct mal_rank_slot *slot = &controller->step->segment.ranks[rank];

		if (atomic_exchange(&slot->use, use[rank]) != use[rank])
			atomic_fetch_add(&slot->changes, 1);
	}
}

static void publish(struct mal_controller *controller, const unsigned int *owner)
{
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		atomic_store(&controller->step->segment.cpus[controller->step->cpu[i]].target,
			     owner[i] < controller->step->segment.rank_count ? owner[i]
									     : MAL_NOBODY);
	atomic_store(&controller->step->segment.header->plan, mal_deciding_next_plan(controller));
}

static void reject(struct mal_controller *controller, const char *why)
{
	static const unsigned int all[MAL_MAX_RANKS];
	struct mal_plan nothing = {0};

	mal_deciding_reject(controller, why);
	set_rules(controller, &nothing);
	set_use(controller, all);
}

bool mal_plan_make(struct mal_controller *controller, const struct mal_window *window)
{
	unsigned int count[MAL_MAX_RANKS], use[MAL_MAX_RANKS];
	unsigned int owner[MAL_MAX_CPUS], begin[MAL_MAX_CPUS];
	struct mal_topology topology = mal_topology_view(controller);
	struct mal_view view = {&topology, controller->step->segment.rank_count,
				window ? window->samples : NULL, window ? window->owner : begin};
	struct mal_plan plan = {.count = count, .owner = owner, .use = use};
	const char *rejection;

	if (mal_deciding_rejected(controller) || mal_off_is(controller) ||
	    !mal_deciding_policy(controller)->decide)
		return false;
	if (!window)
		mal_read_owners(controller, begin);
	switch (mal_deciding_ask(controller, &view, &plan, &rejection)) {
	case MAL_DECISION_NONE: return false;
	case MAL_DECISION_REJECTED:
		mal_recording_plan(controller->recording, &plan, rejection);
		reject(controller, rejection);
		return false;
	case MAL_DECISION_MADE: break;
	}
	set_rules(controller, &plan);
	set_use(controller, use);
	mal_sampling_set_brief(controller, plan.brief);
	if (window)
		mal_recording_plan(controller->recording, &plan, NULL);
	if (!plan.move)
		return false;
	publish(controller, plan.owner);
	return true;
}

void mal_plan_home(struct mal_controller *controller)
{
	static const unsigned int all[MAL_MAX_RANKS];
	unsigned int owner[MAL_MAX_CPUS];
	struct mal_plan plan = {.bind = mal_deciding_binds(controller), .owner = owner};

	mal_read_owners(controller, owner);
	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		unsigned int home = mal_home_of(controller, controller->step->cpu[i]);

		owner[i] = home < controller->step->segment.rank_count ? home : owner[i];
	}
	set_rules(controller, &plan);
	set_use(controller, all);
	if (plan.bind)
		publish(controller, owner);
}

void mal_plan_begin(struct mal_controller *controller)
{
	static const unsigned int all[MAL_MAX_RANKS];

	set_use(controller, all);
	mal_plan_make(controller, NULL);
}

const struct mal_view *mal_planning_view(const struct mal_controller *controller,
					 struct mal_planning *planning)
{
	unsigned int ranks = controller->step->segment.rank_count;

	planning->topology = mal_topology_view(controller);
	planning->view =
		(struct mal_view){&planning->topology, ranks, planning->samples, planning->owner};
	mal_read_owners(controller, planning->owner);
	for (unsigned int rank = 0; rank < ranks; rank++) {
		planning->samples[rank] = *mal_last_sample(controller, rank);
		planning->samples[rank].running = mal_rank_view(controller, rank)->running;
		planning->samples[rank].cpus = 0;
	}
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (planning->owner[i] < ranks)
			planning->samples[planning->owner[i]].cpus++;
	return &planning->view;
}

void mal_plan_obey(struct mal_controller *controller)
{
	struct mal_planning planning;
	const struct mal_view *view = mal_planning_view(controller, &planning);
	unsigned int count[MAL_MAX_RANKS], owner[MAL_MAX_CPUS];
	struct mal_plan plan = {
		.bind = mal_deciding_binds(controller), .count = count, .owner = owner};
	const char *rejection;

	if (mal_decide_under(mal_deciding_orders(controller), NULL, NULL, view, &plan,
			     &rejection) == MAL_DECISION_MADE &&
	    plan.move)
		publish(controller, plan.owner);
}

void mal_plan_take_back(struct mal_controller *controller, const unsigned int *owner)
{
	struct mal_planning planning;
	const struct mal_view *view = mal_planning_view(controller, &planning);
	unsigned int count[MAL_MAX_RANKS], within[MAL_MAX_CPUS];
	struct mal_plan plan = {
		.bind = mal_deciding_binds(controller), .count = count, .owner = within};
	enum mal_decision decision;
	const char *rejection;

	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (planning.owner[i] < view->rank_count && owner[i] < view->rank_count)
			planning.owner[i] = owner[i];
	decision = mal_decide_under(mal_deciding_orders(controller), NULL, NULL, view, &plan,
				    &rejection);
	if (decision != MAL_DECISION_REJECTED)
		publish(controller, decision == MAL_DECISION_MADE ? plan.owner : planning.owner);
}

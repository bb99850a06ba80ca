/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* planning.c: from samples to a plan in the segment, by way of the policy. */
#include "libmalleable/controller/planning.h"

#include "libmalleable/controller/recording.h"
#include "libmalleable/controller/sampling.h"
#include "libmalleable/controller/topology.h"
#include "policies/orders.h"

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

	controller->binds = plan->bind;
	if (plan->bind)
		rules |= MAL_RULE_BIND;
	if (plan->bind && plan->lend)
		rules |= rules_of_lending(&plan->lending);
	if (plan->bind && plan->lend && plan->grow)
		rules |= MAL_RULE_GROW;
	atomic_store(&controller->segment.header->most, plan->lending.most);
	atomic_store(&controller->segment.header->schedule,
		     (plan->schedule.kind & 0xffff) | (plan->schedule.chunk & 0xffff) << 16);
	if (atomic_load(&controller->segment.header->rules) != rules)
		atomic_store(&controller->segment.header->rules, rules);
}

/* The ranks look again where it is new. */
static void set_use(struct mal_controller *controller, const unsigned int *use)
{
	for (unsigned int rank = 0; rank < controller->segment.rank_count; rank++) {
		struct mal_rank_slot *slot = &controller->segment.ranks[rank];

		if (atomic_exchange(&slot->use, use[rank]) != use[rank])
			atomic_fetch_add(&slot->changes, 1);
	}
}

static void publish(struct mal_controller *controller, const struct mal_plan *plan)
{
	for (unsigned int i = 0; i < controller->cpu_count; i++)
		atomic_store(&controller->segment.cpus[controller->cpu[i]].target,
			     plan->owner[i] < controller->segment.rank_count ? plan->owner[i] : MAL_NOBODY);
	atomic_store(&controller->segment.header->plan, ++controller->plans);
}

static void demote(struct mal_controller *controller, const char *why)
{
	static const unsigned int all[MAL_MAX_RANKS];
	struct mal_plan nothing = {0};

	controller->demoted = true;
	controller->demoted_why = why;
	set_rules(controller, &nothing);
	set_use(controller, all);
}

bool mal_plan_make(struct mal_controller *controller, const struct mal_sample *samples)
{
	const struct mal_policy *policy = controller->policy;
	unsigned int count[MAL_MAX_RANKS], use[MAL_MAX_RANKS];
	unsigned int now[MAL_MAX_CPUS];
	unsigned int owner[MAL_MAX_CPUS];
	struct mal_topology topology = mal_topology_view(controller);
	struct mal_view view = {&topology, controller->segment.rank_count, samples, now};
	struct mal_plan plan = {.count = count, .owner = owner, .use = use};
	const char *flaw;

	if (controller->demoted || controller->off || !policy->decide)
		return false;
	mal_read_owners(controller, now);
	switch (mal_decide_under(&controller->orders, policy, controller->policy_state, &view, &plan, &flaw)) {
	case MAL_DECISION_NONE: return false;
	case MAL_DECISION_UNFIT:
		mal_recording_plan(controller->recording, &plan, flaw);
		demote(controller, flaw);
		return false;
	case MAL_DECISION_MADE: break;
	}
	set_rules(controller, &plan);
	set_use(controller, use);
	controller->brief = plan.brief;
	if (samples)
		mal_recording_plan(controller->recording, &plan, NULL);
	if (!plan.move)
		return false;
	publish(controller, &plan);
	return true;
}

int mal_plan_use(struct mal_controller *controller, const struct mal_policy *policy, const double *values,
		 struct mal_error *err)
{
	void *state = NULL;

	if (policy && policy->create) {
		state = policy->create(values);
		if (!state)
			return mal_fail(err, "policy %s does not start", policy->name);
	}
	if (controller->policy && controller->policy->destroy)
		controller->policy->destroy(controller->policy_state);
	controller->policy = policy;
	controller->policy_state = state;
	controller->demoted = false;
	controller->demoted_why = NULL;
	return 0;
}

void mal_plan_home(struct mal_controller *controller)
{
	static const unsigned int all[MAL_MAX_RANKS];
	unsigned int owner[MAL_MAX_CPUS];
	struct mal_plan plan = {.bind = controller->binds, .owner = owner};

	mal_read_owners(controller, owner);
	for (unsigned int i = 0; i < controller->cpu_count; i++) {
		unsigned int home = mal_home_of(controller, controller->cpu[i]);

		owner[i] = home < controller->segment.rank_count ? home : owner[i];
	}
	set_rules(controller, &plan);
	set_use(controller, all);
	if (plan.bind)
		publish(controller, &plan);
}

void mal_plan_begin(struct mal_controller *controller)
{
	static const unsigned int all[MAL_MAX_RANKS];

	set_use(controller, all);
	mal_plan_make(controller, NULL);
}

bool mal_plan_binds(const struct mal_controller *controller)
{
	return controller->binds;
}

const struct mal_view *mal_planning_view(const struct mal_controller *controller, struct mal_planning *planning)
{
	unsigned int ranks = controller->segment.rank_count;

	planning->topology = mal_topology_view(controller);
	planning->view = (struct mal_view){&planning->topology, ranks, planning->samples, planning->owner};
	mal_read_owners(controller, planning->owner);
	for (unsigned int rank = 0; rank < ranks; rank++) {
		planning->samples[rank] = controller->last[rank];
		planning->samples[rank].running = controller->ranks[rank].running;
		planning->samples[rank].cpus = 0;
	}
	for (unsigned int i = 0; i < controller->cpu_count; i++)
		if (planning->owner[i] < ranks)
			planning->samples[planning->owner[i]].cpus++;
	return &planning->view;
}

void mal_plan_obey(struct mal_controller *controller)
{
	struct mal_planning planning;
	const struct mal_view *view = mal_planning_view(controller, &planning);
	unsigned int count[MAL_MAX_RANKS], owner[MAL_MAX_CPUS];
	struct mal_plan plan = {.bind = controller->binds, .count = count, .owner = owner};
	const char *flaw;

	if (mal_decide_under(&controller->orders, NULL, NULL, view, &plan, &flaw) == MAL_DECISION_MADE && plan.move)
		publish(controller, &plan);
}

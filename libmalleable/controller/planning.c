/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* planning.c: from samples to a plan in the segment, by way of the policy. */
#include "libmalleable/controller/planning.h"

#include "libmalleable/controller/recording.h"
#include "policies/decision.h"

static void set_rules(struct mal_controller *controller, const struct mal_plan *plan)
{
	uint32_t rules = MAL_RULE_READY;

	if (plan->bind)
		rules |= MAL_RULE_BIND;
	if (plan->bind && plan->lend)
		rules |= MAL_RULE_LEND;
	if (plan->bind && plan->lend && plan->grow)
		rules |= MAL_RULE_GROW;
	if (atomic_load(&controller->segment.header->rules) != rules)
		atomic_store(&controller->segment.header->rules, rules);
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
	struct mal_plan nothing = {0};

	controller->demoted = true;
	controller->demoted_why = why;
	set_rules(controller, &nothing);
}

bool mal_plan_make(struct mal_controller *controller, const struct mal_sample *samples)
{
	const struct mal_policy *policy = controller->choice.policy;
	unsigned int count[MAL_MAX_RANKS];
	unsigned int now[MAL_MAX_CPUS];
	unsigned int owner[MAL_MAX_CPUS];
	struct mal_topology topology = {controller->cpu_count, controller->l3, controller->numa, controller->package};
	struct mal_view view = {&topology, controller->segment.rank_count, samples, now};
	struct mal_plan plan = {.count = count, .owner = owner};
	const char *flaw;

	if (controller->demoted || !policy->decide)
		return false;
	for (unsigned int i = 0; i < controller->cpu_count; i++)
		now[i] = mal_word_read(&controller->segment.cpus[controller->cpu[i]].word).owner;
	switch (mal_decide(policy, controller->policy_state, &view, &plan, &flaw)) {
	case MAL_DECISION_NONE: return false;
	case MAL_DECISION_UNFIT:
		mal_recording_plan(controller->recording, &plan, flaw);
		demote(controller, flaw);
		return false;
	case MAL_DECISION_MADE: break;
	}
	set_rules(controller, &plan);
	if (samples)
		mal_recording_plan(controller->recording, &plan, NULL);
	if (!plan.move)
		return false;
	publish(controller, &plan);
	return true;
}

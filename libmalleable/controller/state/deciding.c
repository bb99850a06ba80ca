/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* deciding.c: the policy that decides, orders from outside, and what came of them so far. */
#include "libmalleable/controller/state/deciding.h"

#include <stdlib.h>

struct mal_deciding {
	const struct mal_policy *policy; /* NULL: none yet */
	void *policy_state;
	const char *rejected; /* why, NULL: it was not */
	bool binds;
	struct mal_orders orders;
	uint32_t plans;
	double move_times, lend_times; /* of the last decision's plan */
};

struct mal_deciding *mal_deciding_create(const struct mal_step_facts *step)
{
	struct mal_deciding *deciding = calloc(1, sizeof(*deciding));

	if (!deciding ||
	    mal_orders_open(&deciding->orders, step->segment.rank_count, step->cpu_count) < 0) {
		mal_deciding_destroy(deciding);
		return NULL;
	}
	deciding->orders.floor = step->arguments.min_cpus;
	return deciding;
}

static void end_policy(struct mal_deciding *deciding)
{
	if (deciding->policy && deciding->policy->destroy)
		deciding->policy->destroy(deciding->policy_state);
}

void mal_deciding_destroy(struct mal_deciding *deciding)
{
	if (!deciding)
		return;
	end_policy(deciding);
	mal_orders_close(&deciding->orders);
	free(deciding);
}

int mal_deciding_use(struct mal_controller *controller, const struct mal_policy *policy,
		     const double *values, struct mal_error *err)
{
	struct mal_deciding *deciding = controller->deciding;
	void *state = NULL;

	if (policy && policy->create) {
		state = policy->create(values);
		if (!state)
			return mal_fail(err, "policy %s does not start", policy->name);
	}
	end_policy(deciding);
	deciding->policy = policy;
	deciding->policy_state = state;
	deciding->rejected = NULL;
	return 0;
}

const struct mal_policy *mal_deciding_policy(const struct mal_controller *controller)
{
	return controller->deciding->policy;
}

void mal_deciding_reject(struct mal_controller *controller, const char *why)
{
	controller->deciding->rejected = why;
}

const char *mal_deciding_rejected(const struct mal_controller *controller)
{
	return controller->deciding->rejected;
}

bool mal_deciding_binds(const struct mal_controller *controller)
{
	return controller->deciding->binds;
}

void mal_deciding_set_binds(struct mal_controller *controller, bool binds)
{
	controller->deciding->binds = binds;
}

void mal_deciding_set_rules(struct mal_controller *controller, uint32_t rules)
{
	_Atomic uint32_t *published = &controller->step->segment.header->rules;

	/* Ranks prepare their regions anew where rules are others than before. */
	if (atomic_load(published) != rules)
		atomic_store(published, rules);
}

const struct mal_orders *mal_deciding_orders(const struct mal_controller *controller)
{
	return &controller->deciding->orders;
}

void mal_deciding_set_orders(struct mal_controller *controller, const struct mal_orders *orders)
{
	mal_orders_copy(&controller->deciding->orders, orders);
}

enum mal_decision mal_deciding_ask(struct mal_controller *controller, const struct mal_view *view,
				   struct mal_plan *plan, const char **rejection)
{
	struct mal_deciding *deciding = controller->deciding;

	enum mal_decision decision = mal_decide_under(
		&deciding->orders, deciding->policy, deciding->policy_state, view, plan, rejection);

	if (decision == MAL_DECISION_MADE) {
		deciding->move_times = plan->move_times;
		deciding->lend_times = plan->lend_times;
	}
	return decision;
}

double mal_deciding_move_times(const struct mal_controller *controller)
{
	return controller->deciding->move_times;
}

double mal_deciding_lend_times(const struct mal_controller *controller)
{
	return controller->deciding->lend_times;
}

uint32_t mal_deciding_plans(const struct mal_controller *controller)
{
	return controller->deciding->plans;
}

uint32_t mal_deciding_next_plan(struct mal_controller *controller)
{
	return ++controller->deciding->plans;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* policy_view.h: a node for tests of policies, which are asked as the controller does. */
#pragma once

#include "t/unit/unit.h"

#include <string.h>

#include "policies/decide/decision.h"
#include "policies/interface/choice.h"

#define MAX 64

/* A node with RANKS ranks of CPUS CPUs each, in L3 groups of GROUP. */
struct policy_view {
	struct mal_topology topology;
	struct mal_view view;
	struct mal_plan plan;
	struct mal_sample samples[MAX];
	unsigned int l3[MAX * 8], numa[MAX * 8], package[MAX * 8];
	unsigned int owner[MAX * 8], new_owner[MAX * 8], count[MAX];
};

static inline void make_view(struct policy_view *node, unsigned int ranks, unsigned int cpus,
			     unsigned int group)
{
	memset(node, 0, sizeof(*node));
	for (unsigned int i = 0; i < ranks * cpus; i++) {
		node->l3[i] = i / group;
		node->numa[i] = 2 * i / (ranks * cpus);
		node->package[i] = node->numa[i];
		node->owner[i] = i / cpus;
	}
	for (unsigned int i = 0; i < ranks; i++)
		node->samples[i] =
			(struct mal_sample){.running = true, .elapsed_s = 1, .cpus = cpus};
	node->topology =
		(struct mal_topology){ranks * cpus, node->l3, node->numa, node->package, NULL};
	node->view = (struct mal_view){&node->topology, ranks, node->samples, node->owner};
	node->plan = (struct mal_plan){.count = node->count, .owner = node->new_owner};
}

/* Ask POLICY with its default parameters, as the controller does. */
static inline void decide(struct policy_view *node, const struct mal_policy *policy, void *state)
{
	const char *rejection;

	node->plan = (struct mal_plan){.count = node->count, .owner = node->new_owner};
	assert_int_equal(mal_decide(policy, state, &node->view, &node->plan, &rejection),
			 MAL_DECISION_MADE);
}

static inline void *create(const struct mal_policy *policy)
{
	double values[MAL_CHOICE_PARAMS];

	for (size_t i = 0; i < policy->param_count; i++)
		values[i] = policy->params[i].fallback;
	return policy->create ? policy->create(values) : NULL;
}

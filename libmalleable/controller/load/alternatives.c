/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* alternatives.c: what the policies would have made of a step that is only observed. */
#include "libmalleable/controller/load/alternatives.h"

#include <stdlib.h>

#include "libmalleable/controller/cpus/allocation.h"
#include "libmalleable/controller/cpus/owners.h"
#include "policies/interface/choice.h"
#include "policies/interface/registry.h"

static const char *const names[] = {"auto", "sabo", "lewi"};
#define COUNT (sizeof(names) / sizeof(names[0]))
/* A window of so many takes 7 ms of simulation, and their number counts twice. */
#define MAX_RANKS 256

struct mal_alternatives {
	bool begun;
	struct mal_topology topology;
	const struct mal_policy *policies[COUNT];
	struct mal_simulation *simulations[COUNT];
};

struct mal_alternatives *mal_alternatives_create(unsigned int ranks)
{
	return ranks <= MAX_RANKS ? calloc(1, sizeof(struct mal_alternatives)) : NULL;
}

static void begin(struct mal_alternatives *alternatives, const struct mal_controller *controller,
		  const struct mal_window *window)
{
	alternatives->begun = true;
	alternatives->topology = mal_allocation_topology(controller);
	for (size_t i = 0; i < COUNT; i++) {
		struct mal_choice choice;

		if (mal_choose(names[i], NULL, MAL_POLICY_DEFAULT, &choice, NULL) < 0)
			continue;
		alternatives->policies[i] = choice.policy;
		alternatives->simulations[i] =
			mal_simulation_create(choice.policy, choice.values, &alternatives->topology,
					      controller->step->segment.rank_count, window->owner);
	}
}

void mal_alternatives_window(struct mal_alternatives *alternatives,
			     const struct mal_controller *controller,
			     const struct mal_window *window)
{
	if (!alternatives)
		return;
	if (!alternatives->begun)
		begin(alternatives, controller, window);
	for (size_t i = 0; i < COUNT; i++)
		if (alternatives->simulations[i])
			mal_simulation_window(alternatives->simulations[i], window->samples);
}

const struct mal_policy *mal_alternatives_at(const struct mal_alternatives *alternatives,
					     size_t index, const struct mal_outcome **outcome)
{
	if (!alternatives || index >= COUNT || !alternatives->simulations[index])
		return NULL;
	*outcome = mal_simulation_outcome(alternatives->simulations[index]);
	return alternatives->policies[index];
}

void mal_alternatives_destroy(struct mal_alternatives *alternatives)
{
	if (!alternatives)
		return;
	for (size_t i = 0; i < COUNT; i++)
		mal_simulation_destroy(alternatives->simulations[i]);
	free(alternatives);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* alternatives.c: what the policies would have made of a step that is only observed. */
#include "libmalleable/controller/load/alternatives.h"

#include "libmalleable/controller/cpus/allocation.h"
#include "policies/decide/simulation.h"
#include "policies/interface/choice.h"
#include "policies/interface/registry.h"

/* A window of so many takes 7 ms of simulation, and their number counts twice. */
#define MAX_RANKS 256

static const char *const names[] = {"auto", "sabo", "lewi"};
#define COUNT MAL_ALTERNATIVES
_Static_assert(sizeof(names) / sizeof(names[0]) == COUNT, "a simulation each");

static struct mal_simulation *begin(const struct mal_controller *controller, const char *name,
				    const struct mal_window *window)
{
	struct mal_topology topology = mal_allocation_topology(controller);
	struct mal_choice choice;

	if (mal_choose(name, NULL, MAL_POLICY_DEFAULT, &choice, NULL) < 0)
		return NULL;
	return mal_simulation_create(choice.policy, choice.values, &topology,
				     controller->step->segment.rank_count, window->owner);
}

void mal_alternatives_window(struct mal_controller *controller, const struct mal_window *window)
{
	if (mal_policy_acts(controller->step->choice.policy) ||
	    controller->step->segment.rank_count > MAX_RANKS)
		return;
	for (size_t i = 0; i < COUNT; i++) {
		struct mal_simulation **simulation = &controller->alternatives_own.list[i];

		if (!*simulation)
			*simulation = begin(controller, names[i], window);
		if (*simulation)
			mal_simulation_window(*simulation, window->samples);
	}
}

const struct mal_outcome *mal_alternatives_at(const struct mal_controller *controller, size_t index)
{
	const struct mal_alternatives *all = &controller->alternatives;

	return index < COUNT && all->list[index] ? mal_simulation_outcome(all->list[index]) : NULL;
}

void mal_alternatives_close(struct mal_controller *controller)
{
	for (size_t i = 0; i < COUNT; i++)
		mal_simulation_destroy(controller->alternatives.list[i]);
}

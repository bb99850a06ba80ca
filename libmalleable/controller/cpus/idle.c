/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* idle.c: CPUs that are nobody's, and which rank gets them. */
#include "libmalleable/controller/cpus/idle.h"

#include "libmalleable/controller/cpus/allocation.h"
#include "libmalleable/controller/cpus/leaving.h"
#include "libmalleable/controller/cpus/owners.h"

/*
 * The rank that gets the next CPU: it runs, can use more, and has fewest. The number of ranks if
 * there is none.
 */
static unsigned int find_taker(const struct mal_controller *controller, const uint16_t *counts)
{
	unsigned int ranks = controller->step->segment.rank_count, found = ranks;

	for (unsigned int rank = 0; rank < ranks; rank++) {
		unsigned int max = controller->last[rank].max;

		if (!controller->ranks[rank].running || (max && counts[rank] >= max) ||
		    (found < ranks && counts[rank] >= counts[found]))
			continue;
		found = rank;
	}
	return found;
}

/*
 * A rank that runs and has no CPU: it comes before those whose home it is. The number of ranks if
 * there is none.
 */
static unsigned int find_rank_without_cpu(const struct mal_controller *controller,
					  const uint16_t *counts)
{
	unsigned int rank = 0, ranks = controller->step->segment.rank_count;

	while (rank < ranks && (!controller->ranks[rank].running || counts[rank]))
		rank++;
	return rank;
}

void mal_idle_hand_out(struct mal_controller *controller)
{
	unsigned int ranks = controller->step->segment.rank_count;
	uint16_t counts[MAL_MAX_RANKS];

	if (!controller->deciding.binds ||
	    !(controller->off_switch.off_now || mal_cpumask_count(&controller->allocation.idle)))
		return;
	mal_count_owned(controller, counts);
	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		unsigned int cpu = controller->step->cpu[i], taker;

		if (mal_owner_read(controller, cpu).owner != MAL_NOBODY ||
		    !(controller->off_switch.off_now ||
		      mal_cpumask_has(&controller->allocation.idle, cpu)))
			continue;
		taker = controller->off_switch.off_now ? ranks
						       : find_rank_without_cpu(controller, counts);
		if (taker == ranks)
			taker = mal_home_of(controller, cpu);
		if (taker == ranks && !controller->off_switch.off_now)
			taker = find_taker(controller, counts);
		if (taker < ranks && mal_owner_give(controller, cpu, taker))
			counts[taker]++;
	}
}

struct mal_cpumask mal_idle_and_owned(const struct mal_controller *controller,
				      const unsigned int *owners)
{
	struct mal_cpumask mask = controller->allocation.idle;

	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (owners[i] != MAL_NOBODY)
			mal_cpumask_add(&mask, controller->step->cpu[i]);
	return mask;
}

int mal_idle_offer(struct mal_controller *controller, const char *list, struct mal_error *err)
{
	struct mal_cpumask mask;

	if (mal_allocation_parse(controller, list, &mask, err) < 0)
		return -1;
	mal_allocation_add_idle(controller, &mask);
	mal_leaving_forget(controller, &mask);
	mal_idle_hand_out(controller);
	return 0;
}

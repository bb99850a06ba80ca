/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* allocation.c: which CPUs of the allocation the ranks may have now. */
#include "libmalleable/controller/cpus/allocation.h"

#include <stdlib.h>

struct mal_allocation {
	struct mal_cpumask idle, share;
	unsigned int min_share;
};

struct mal_allocation *mal_allocation_create(const struct mal_step_facts *step,
					     const struct mal_cpumask *idle)
{
	struct mal_allocation *allocation = calloc(1, sizeof(*allocation));

	if (!allocation)
		return NULL;
	allocation->idle = *idle;
	allocation->share = step->allocation;
	allocation->min_share = mal_cpumask_count(&allocation->share);
	return allocation;
}

void mal_allocation_destroy(struct mal_allocation *allocation)
{
	free(allocation);
}

const struct mal_cpumask *mal_allocation_idle(const struct mal_controller *controller)
{
	return &controller->allocation->idle;
}

void mal_allocation_add_idle(struct mal_controller *controller, const struct mal_cpumask *cpus)
{
	mal_cpumask_union(&controller->allocation->idle, cpus);
}

void mal_allocation_drop_idle(struct mal_controller *controller, const struct mal_cpumask *cpus)
{
	mal_cpumask_drop(&controller->allocation->idle, cpus);
}

const struct mal_cpumask *mal_allocation_share(const struct mal_controller *controller)
{
	return &controller->allocation->share;
}

unsigned int mal_allocation_min_share(const struct mal_controller *controller)
{
	return controller->allocation->min_share;
}

void mal_allocation_set_share(struct mal_controller *controller, const struct mal_cpumask *share)
{
	struct mal_allocation *allocation = controller->allocation;
	struct mal_cpumask gained = *share, lost;
	unsigned int count = mal_cpumask_count(share);

	mal_cpumask_drop(&gained, &allocation->share);
	allocation->share = *share;
	if (count < allocation->min_share)
		allocation->min_share = count;
	lost = mal_allocation_foreign(controller);
	mal_cpumask_union(&allocation->idle, &gained);
	mal_cpumask_drop(&allocation->idle, &lost);
}

struct mal_cpumask mal_allocation_foreign(const struct mal_controller *controller)
{
	struct mal_cpumask cpus = controller->step->allocation;

	mal_cpumask_drop(&cpus, &controller->allocation->share);
	return cpus;
}

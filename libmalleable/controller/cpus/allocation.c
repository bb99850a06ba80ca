/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* allocation.c: the CPUs of the allocation: which of them ranks may have now, and their places. */
#include "libmalleable/controller/cpus/allocation.h"

#include <stdlib.h>

#include "libmalleable/trace/places.h"

struct mal_allocation {
	struct mal_cpumask idle, share;
	unsigned int min_share;
	/* Places of the CPUs of the step, in order; all are 0 until they were read. */
	bool read;
	unsigned int core[MAL_MAX_CPUS];
	unsigned int l3[MAL_MAX_CPUS];
	unsigned int numa[MAL_MAX_CPUS];
	unsigned int package[MAL_MAX_CPUS];
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

void mal_allocation_read_places(struct mal_controller *controller)
{
	const struct mal_step_facts *step = controller->step;
	struct mal_allocation *allocation = controller->allocation;

	if (allocation->read)
		return;
	allocation->read = true;
	for (unsigned int i = 0; i < step->cpu_count; i++)
		allocation->core[i] = step->cpu[i];
	if (mal_places_read(NULL, step->cpu, step->cpu_count, allocation->core, allocation->l3,
			    allocation->numa, allocation->package, NULL) < 0)
		return;
	for (unsigned int i = 0; i < step->cpu_count; i++) {
		struct mal_cpu_slot *slot = &step->segment.cpus[step->cpu[i]];

		atomic_store(&slot->core, allocation->core[i]);
		atomic_store(&slot->l3, allocation->l3[i]);
		atomic_store(&slot->numa, allocation->numa[i]);
	}
}

struct mal_topology mal_allocation_topology(const struct mal_controller *controller)
{
	const struct mal_allocation *allocation = controller->allocation;

	return (struct mal_topology){controller->step->cpu_count, allocation->l3, allocation->numa,
				     allocation->package,
				     allocation->read ? allocation->core : NULL};
}

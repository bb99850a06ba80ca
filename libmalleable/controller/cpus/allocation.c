/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* allocation.c: the CPUs of the allocation: which of them ranks may have now, and their places. */
#include "libmalleable/controller/cpus/allocation.h"

#include "libmalleable/trace/places.h"

int mal_allocation_parse(const struct mal_controller *controller, const char *list,
			 struct mal_cpumask *mask, struct mal_error *err)
{
	if (mal_cpumask_parse(list, mask, err) < 0)
		return -1;
	mal_cpumask_intersect(mask, &controller->step->allocation);
	return 0;
}

void mal_allocation_add_idle(struct mal_controller *controller, const struct mal_cpumask *cpus)
{
	mal_cpumask_union(&controller->allocation_own.idle, cpus);
}

void mal_allocation_drop_idle(struct mal_controller *controller, const struct mal_cpumask *cpus)
{
	mal_cpumask_drop(&controller->allocation_own.idle, cpus);
}

void mal_allocation_read_places(struct mal_controller *controller)
{
	const struct mal_step_facts *step = controller->step;
	struct mal_allocation *allocation = &controller->allocation_own;

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
	const struct mal_allocation *allocation = &controller->allocation;

	return (struct mal_topology){controller->step->cpu_count, allocation->l3, allocation->numa,
				     allocation->package,
				     allocation->read ? allocation->core : NULL};
}

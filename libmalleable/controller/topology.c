/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* topology.c: the places of the step's CPUs, for the policy and for the ranks. */
#include "libmalleable/controller/topology.h"

#include "libmalleable/trace/places.h"

void mal_topology_read(struct mal_controller *controller)
{
	if (controller->topology_read)
		return;
	controller->topology_read = true;
	for (unsigned int i = 0; i < controller->cpu_count; i++)
		controller->core[i] = controller->cpu[i];
	if (mal_places_read(NULL, controller->cpu, controller->cpu_count, controller->core, controller->l3,
			    controller->numa, controller->package, NULL) < 0)
		return;
	for (unsigned int i = 0; i < controller->cpu_count; i++) {
		struct mal_cpu_slot *slot = &controller->segment.cpus[controller->cpu[i]];

		atomic_store(&slot->core, controller->core[i]);
		atomic_store(&slot->l3, controller->l3[i]);
		atomic_store(&slot->numa, controller->numa[i]);
	}
}

struct mal_topology mal_topology_view(const struct mal_controller *controller)
{
	return (struct mal_topology){controller->cpu_count, controller->l3, controller->numa, controller->package,
				     controller->topology_read ? controller->core : NULL};
}

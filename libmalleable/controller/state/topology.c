/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* topology.c: the places of the step's CPUs, for the policy and for the ranks. */
#include "libmalleable/controller/state/topology.h"

#include <stdlib.h>

#include "libmalleable/trace/places.h"

/* Of the CPUs of the step, in order. All are 0 until they were read. */
struct mal_places {
	bool read;
	unsigned int core[MAL_MAX_CPUS];
	unsigned int l3[MAL_MAX_CPUS];
	unsigned int numa[MAL_MAX_CPUS];
	unsigned int package[MAL_MAX_CPUS];
};

struct mal_places *mal_topology_create(void)
{
	return calloc(1, sizeof(struct mal_places));
}

void mal_topology_destroy(struct mal_places *places)
{
	free(places);
}

void mal_topology_read(struct mal_controller *controller)
{
	const struct mal_step_facts *step = controller->step;
	struct mal_places *places = controller->places;

	if (places->read)
		return;
	places->read = true;
	for (unsigned int i = 0; i < step->cpu_count; i++)
		places->core[i] = step->cpu[i];
	if (mal_places_read(NULL, step->cpu, step->cpu_count, places->core, places->l3,
			    places->numa, places->package, NULL) < 0)
		return;
	for (unsigned int i = 0; i < step->cpu_count; i++) {
		struct mal_cpu_slot *slot = &step->segment.cpus[step->cpu[i]];

		atomic_store(&slot->core, places->core[i]);
		atomic_store(&slot->l3, places->l3[i]);
		atomic_store(&slot->numa, places->numa[i]);
	}
}

struct mal_topology mal_topology_view(const struct mal_controller *controller)
{
	const struct mal_places *places = controller->places;

	return (struct mal_topology){controller->step->cpu_count, places->l3, places->numa,
				     places->package, places->read ? places->core : NULL};
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* topology.c: which CPUs of the step share an L3, a NUMA node, a package (hwloc). */
#include "libmalleable/controller/topology.h"

#include <hwloc.h>

/* The number of the object of TYPE around the processing unit, 0 if there is none. */
static unsigned int group_of(hwloc_topology_t topology, hwloc_obj_t pu, hwloc_obj_type_t type)
{
	hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(topology, type, pu);

	return object ? object->logical_index : 0;
}

static unsigned int numa_of(hwloc_obj_t pu)
{
	int node = pu->nodeset ? hwloc_bitmap_first(pu->nodeset) : -1;

	return node < 0 ? 0 : (unsigned int)node;
}

static void read_places(struct mal_controller *controller, hwloc_topology_t topology)
{
	for (unsigned int i = 0; i < controller->cpu_count; i++) {
		hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, controller->cpu[i]);

		if (!pu)
			continue;
		controller->l3[i] = group_of(topology, pu, HWLOC_OBJ_L3CACHE);
		controller->numa[i] = numa_of(pu);
		controller->package[i] = group_of(topology, pu, HWLOC_OBJ_PACKAGE);
	}
}

void mal_topology_read(struct mal_controller *controller)
{
	hwloc_topology_t topology;

	if (controller->topology_read)
		return;
	controller->topology_read = true;
	if (hwloc_topology_init(&topology) < 0)
		return;
	hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
	hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
	if (hwloc_topology_load(topology) == 0)
		read_places(controller, topology);
	hwloc_topology_destroy(topology);
	for (unsigned int i = 0; i < controller->cpu_count; i++) {
		struct mal_cpu_slot *slot = &controller->segment.cpus[controller->cpu[i]];

		atomic_store(&slot->l3, controller->l3[i]);
		atomic_store(&slot->numa, controller->numa[i]);
	}
}

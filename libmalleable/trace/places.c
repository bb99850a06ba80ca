/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* places.c: which CPUs share a core, an L3, a NUMA node, a package (hwloc). */
#include "libmalleable/trace/places.h"

#include <hwloc.h>

/* Number of the object of TYPE that contains the processing unit, NONE if there is none. */
static unsigned int group_of(hwloc_topology_t topology, hwloc_obj_t pu, hwloc_obj_type_t type,
			     unsigned int none)
{
	hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(topology, type, pu);

	return object ? object->logical_index : none;
}

static unsigned int numa_of(hwloc_obj_t pu)
{
	int node = pu->nodeset ? hwloc_bitmap_first(pu->nodeset) : -1;

	return node < 0 ? 0 : (unsigned int)node;
}

static int load(const char *synthetic, hwloc_topology_t *topology, struct mal_error *err)
{
	if (hwloc_topology_init(topology) < 0)
		return mal_fail(err, "hwloc cannot start");
	hwloc_topology_set_all_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
	hwloc_topology_set_io_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_NONE);
	if (synthetic && hwloc_topology_set_synthetic(*topology, synthetic) < 0)
		mal_fail(err,
			 "'%.80s' is not a synthetic topology for hwloc, such as "
			 "pack:2 numa:1 l3:8 core:3 pu:1",
			 synthetic);
	else if (hwloc_topology_load(*topology) < 0)
		mal_fail(err, "hwloc cannot read the topology");
	else
		return 0;
	hwloc_topology_destroy(*topology);
	return -1;
}

int mal_places_read(const char *synthetic, const unsigned int *cpu, unsigned int count,
		    unsigned int *core, unsigned int *l3, unsigned int *numa, unsigned int *package,
		    struct mal_error *err)
{
	hwloc_topology_t topology;
	int all;

	if (load(synthetic, &topology, err) < 0)
		return -1;
	for (unsigned int i = 0; i < count; i++) {
		hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, cpu[i]);

		if (!pu)
			continue;
		if (core)
			core[i] = group_of(topology, pu, HWLOC_OBJ_CORE, cpu[i]);
		l3[i] = group_of(topology, pu, HWLOC_OBJ_L3CACHE, 0);
		numa[i] = numa_of(pu);
		package[i] = group_of(topology, pu, HWLOC_OBJ_PACKAGE, 0);
	}
	all = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
	hwloc_topology_destroy(topology);
	return all;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rank_memory.c: the NUMA nodes of a rank's memory and CPUs. */
#include "libmalleable/controller/load/rank_memory.h"

#include "libmalleable/controller/load/busy_cpus.h"

/* Turn numbers into parts of their sum. */
static void make_parts(double *values)
{
	double sum = 0;

	for (unsigned int node = 0; node < MAL_NODES; node++)
		sum += values[node];
	for (unsigned int node = 0; node < MAL_NODES && sum > 0; node++)
		values[node] /= sum;
}

static void read_cpus(const struct mal_controller *controller, unsigned int rank, double *cpu)
{
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (controller->allocation.numa[i] < MAL_NODES)
			cpu[controller->allocation.numa[i]] +=
				(double)mal_lane_read(controller, rank, controller->step->cpu[i]);
	make_parts(cpu);
}

struct mal_memory mal_memory_read(const struct mal_controller *controller, unsigned int rank)
{
	const struct mal_lanes *lanes = mal_lanes_of(&controller->step->segment, rank);
	struct mal_memory memory = {.known = atomic_load(&lanes->pages_known)};

	if (!memory.known)
		return memory;
	for (unsigned int node = 0; node < MAL_NODES; node++)
		memory.pages[node] = atomic_load(&lanes->pages[node]);
	make_parts(memory.pages);
	read_cpus(controller, rank, memory.cpu);
	for (unsigned int node = 0; node < MAL_NODES; node++) {
		double more = memory.pages[node] - memory.cpu[node];

		memory.nodes += memory.pages[node] > 0 || memory.cpu[node] > 0;
		if (more > memory.pages[memory.far] - memory.cpu[memory.far])
			memory.far = node;
		if (memory.cpu[node] > memory.cpu[memory.near])
			memory.near = node;
		memory.apart += more > 0 ? more : 0;
	}
	return memory;
}

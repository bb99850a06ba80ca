/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* busy_cpus.c: how long each CPU was busy. */
#include "libmalleable/controller/load/busy_cpus.h"

#include <math.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/load/sampling.h"

uint64_t mal_lane_read(const struct mal_controller *controller, unsigned int rank, unsigned int cpu)
{
	const struct mal_lanes *lanes = mal_lanes_of(&controller->step->segment, rank);

	if (!(atomic_load(&lanes->used[cpu / 64]) >> cpu % 64 & 1))
		return 0;
	return atomic_load(&lanes->busy[cpu]);
}

static void add_rank(const struct mal_controller *controller, unsigned int rank,
		     struct mal_busy_cpus *cpus)
{
	double most_s = mal_ticks_to_s(mal_ticks() - controller->step->started);

	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		unsigned int cpu = controller->step->cpu[i];
		double busy_s = mal_sampling_span(mal_lane_read(controller, rank, cpu), 0, most_s);

		cpus->busy_s[i] += busy_s;
		cpus->counts[i] |=
			busy_s > 0 || mal_cpumask_has(&controller->ranks[rank].home, cpu);
	}
}

void mal_busy_cpus_read(const struct mal_controller *controller, struct mal_busy_cpus *cpus)
{
	unsigned int count = 0;
	double sum = 0;

	memset(cpus, 0, sizeof(*cpus));
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		if (controller->ranks[rank].known)
			add_rank(controller, rank, cpus);
	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		if (!cpus->counts[i])
			continue;
		sum += cpus->busy_s[i];
		if (!count++)
			cpus->idlest = cpus->busiest = i;
		if (cpus->busy_s[i] < cpus->busy_s[cpus->idlest])
			cpus->idlest = i;
		if (cpus->busy_s[i] > cpus->busy_s[cpus->busiest])
			cpus->busiest = i;
	}
	cpus->balance = sum > 0 ? sum / count / cpus->busy_s[cpus->busiest] : NAN;
}

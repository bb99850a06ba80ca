/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* efficiency.c: where the time of the CPUs went. */
#include "policies/model/efficiency.h"

#include <math.h>

#include "policies/model/model.h"

void mal_cpu_seconds_add(struct mal_cpu_seconds *seconds, const struct mal_sample *samples,
			 unsigned int rank_count, unsigned int cpus)
{
	double elapsed = mal_model_elapsed(samples, rank_count);
	double reachable = (elapsed - mal_model_communication(samples, rank_count)) * cpus;
	double computing = 0, threads = 0, useful = 0;

	for (unsigned int rank = 0; rank < rank_count; rank++) {
		const struct mal_sample *sample = &samples[rank];

		if (!sample->running)
			continue;
		useful += sample->work_s + sample->serial_s;
		threads += sample->work_s + sample->barrier_s + sample->serial_s;
		computing += sample->work_s + sample->barrier_s +
			     sample->serial_s * (sample->cpus ? sample->cpus : 1);
	}
	/* Teams with more threads than CPUs count time that no CPU had. */
	computing = fmax(useful, fmin(computing, reachable));
	seconds->all_s += elapsed * cpus;
	seconds->reachable_s += reachable;
	seconds->computing_s += computing;
	seconds->threads_s += fmin(threads, computing);
	seconds->useful_s += useful;
}

static double part(double of, double all)
{
	return all > 0 ? of / all : NAN;
}

struct mal_efficiencies mal_efficiencies(const struct mal_cpu_seconds *seconds)
{
	return (struct mal_efficiencies){
		.parallel = part(seconds->useful_s, seconds->all_s),
		.mpi = part(seconds->computing_s, seconds->all_s),
		.load_balance = part(seconds->computing_s, seconds->reachable_s),
		.communication = part(seconds->reachable_s, seconds->all_s),
		.openmp = part(seconds->useful_s, seconds->computing_s),
		.serial = part(seconds->threads_s, seconds->computing_s),
		.regions = part(seconds->useful_s, seconds->threads_s),
	};
}

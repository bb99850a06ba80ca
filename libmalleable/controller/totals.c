/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * totals.c: what windows add up to.
 *
 * Without balancing the window would have taken as long as the rank that needs longest on its home CPUs; at best, the
 * sum of all loads over all CPUs. To both comes what no balancing can save: the communication, taken as the
 * shortest time that any rank spent in MPI.
 */
#include "libmalleable/controller/totals.h"

#include <math.h>

/* Less than this part of the time cannot be told from noise. */
#define NOTHING_TO_GAIN 0.01

void mal_totals_add(struct mal_controller *controller, const struct mal_sample *samples)
{
	struct mal_totals *totals = &controller->totals;
	double elapsed = 0, longest = 0, sum = 0, communication = 1e30;
	unsigned int cpus = 0;

	for (unsigned int rank = 0; rank < controller->segment.rank_count; rank++) {
		struct mal_rank_view *view = &controller->ranks[rank];
		const struct mal_sample *sample = &samples[rank];
		unsigned int home = mal_cpumask_count(&view->home);
		double needs;

		if (!sample->running || !home)
			continue;
		cpus += home;
		needs = sample->serial_s + sample->work_s / home;
		view->work_s += sample->work_s;
		view->barrier_s += sample->barrier_s;
		view->serial_s += sample->serial_s;
		view->mpi_s += sample->mpi_s;
		sum += sample->work_s + sample->serial_s;
		longest = needs > longest ? needs : longest;
		elapsed = sample->elapsed_s > elapsed ? sample->elapsed_s : elapsed;
		communication = sample->mpi_s < communication ? sample->mpi_s : communication;
	}
	if (!cpus || longest <= 0 || communication > elapsed)
		return;
	totals->windows++;
	totals->elapsed_s += elapsed;
	totals->off_s += longest + communication;
	totals->ideal_s += sum / cpus + communication;
	totals->useful_s += sum;
	totals->core_s += elapsed * cpus;
	totals->balance_before += elapsed * sum / cpus / longest;
	if (elapsed > communication)
		totals->balance_after += elapsed * (sum / cpus) / (elapsed - communication);
}

double mal_totals_share(const struct mal_totals *totals)
{
	double attainable = totals->off_s - totals->ideal_s;

	if (totals->off_s <= 0 || attainable < NOTHING_TO_GAIN * totals->off_s)
		return NAN;
	return (totals->off_s - totals->elapsed_s) / attainable;
}

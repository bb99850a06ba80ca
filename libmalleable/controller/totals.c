/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* totals.c: what windows add up to: as it was, without balancing, and at best (policies/model.h). */
#include "libmalleable/controller/totals.h"

#include "policies/model.h"
#include "policies/simulation.h"

static void add_rank(struct mal_rank_view *view, const struct mal_sample *sample)
{
	view->work_s += sample->work_s;
	view->barrier_s += sample->barrier_s;
	view->serial_s += sample->serial_s;
	view->mpi_s += sample->mpi_s;
}

void mal_totals_add(struct mal_controller *controller, const struct mal_sample *samples)
{
	struct mal_totals *totals = &controller->totals;
	unsigned int ranks = controller->segment.rank_count, cpus = 0, own = 0, home[MAL_MAX_RANKS] = {0};
	double elapsed = mal_model_elapsed(samples, ranks), communication = mal_model_communication(samples, ranks);
	double sum = 0, off, ideal;

	for (unsigned int rank = 0; rank < ranks; rank++) {
		if (!samples[rank].running)
			continue;
		home[rank] = mal_cpumask_count(&controller->ranks[rank].home);
		cpus += home[rank];
		own += samples[rank].cpus;
		sum += samples[rank].work_s + samples[rank].serial_s;
		add_rank(&controller->ranks[rank], &samples[rank]);
	}
	if (!cpus || sum <= 0 || communication > elapsed)
		return;
	/* With CPUs from outside there are more than at first. */
	cpus = own > cpus ? own : cpus;
	off = mal_model_window(samples, ranks, &(struct mal_setting){.count = home}, NULL);
	ideal = mal_model_ideal(samples, ranks, cpus);
	totals->windows++;
	totals->elapsed_s += elapsed;
	totals->off_s += off;
	totals->ideal_s += ideal;
	totals->useful_s += sum;
	totals->core_s += elapsed * cpus;
	totals->balance_before += elapsed * (ideal - communication) / (off - communication);
	if (elapsed > communication)
		totals->balance_after += elapsed * (ideal - communication) / (elapsed - communication);
}

double mal_totals_share(const struct mal_totals *totals)
{
	return mal_share_of_attainable(totals->off_s, totals->ideal_s, totals->elapsed_s);
}

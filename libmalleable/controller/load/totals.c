/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * totals.c: what windows add up to: as it was, without balancing, and at best
 * (policies/model/model.h).
 */
#include "libmalleable/controller/load/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/controller/state/deciding.h"
#include "libmalleable/controller/state/last.h"
#include "libmalleable/controller/state/ranks.h"
#include "policies/decide/simulation.h"
#include "policies/model/model.h"

struct mal_totalling {
	struct mal_totals all;
	struct mal_rank_totals ranks[];
};

struct mal_totalling *mal_totalling_create(unsigned int ranks)
{
	return calloc(1, sizeof(struct mal_totalling) + ranks * sizeof(struct mal_rank_totals));
}

void mal_totalling_destroy(struct mal_totalling *totalling)
{
	free(totalling);
}

const struct mal_totals *mal_totals_read(const struct mal_controller *controller)
{
	return &controller->totalling->all;
}

const struct mal_rank_totals *mal_totals_of_rank(const struct mal_controller *controller,
						 unsigned int rank)
{
	return &controller->totalling->ranks[rank];
}

static void add_rank(struct mal_rank_totals *totals, const struct mal_sample *sample)
{
	totals->work_s += sample->work_s;
	totals->barrier_s += sample->barrier_s;
	totals->serial_s += sample->serial_s;
	totals->mpi_s += sample->mpi_s;
}

void mal_totals_add(struct mal_controller *controller, const struct mal_sample *samples)
{
	struct mal_totals *totals = &controller->totalling->all;
	unsigned int ranks = controller->step->segment.rank_count, cpus = 0, own = 0,
		     home[MAL_MAX_RANKS] = {0};
	double elapsed = mal_model_elapsed(samples, ranks),
	       communication = mal_model_communication(samples, ranks);
	double sum = 0, off, ideal;

	for (unsigned int rank = 0; rank < ranks; rank++) {
		if (!samples[rank].running)
			continue;
		home[rank] = mal_cpumask_count(&mal_rank_view(controller, rank)->home);
		cpus += home[rank];
		own += samples[rank].cpus;
		sum += samples[rank].work_s + samples[rank].serial_s;
		add_rank(&controller->totalling->ranks[rank], &samples[rank]);
	}
	if (!cpus || sum <= 0 || communication > elapsed)
		return;
	/* With CPUs from outside there are more than at first. */
	cpus = own > cpus ? own : cpus;
	off = mal_model_window(samples, ranks, &(struct mal_usage){.count = home}, NULL);
	ideal = mal_model_ideal(samples, ranks, cpus);
	totals->windows++;
	mal_last_set_measured(controller);
	totals->elapsed_s += elapsed;
	totals->off_s += off;
	totals->ideal_s += ideal;
	mal_cpu_seconds_add(&totals->cpus, samples, ranks, cpus);
	/* The mean load, also where no CPU shortens the largest, as that is of one thread. */
	totals->balance_before += elapsed * (sum / cpus) / (off - communication);
	if (elapsed > communication)
		totals->balance_after += elapsed * (sum / cpus) / (elapsed - communication);
}

double mal_totals_attained(const struct mal_totals *totals)
{
	return mal_attained(totals->off_s, totals->ideal_s, totals->elapsed_s);
}

double mal_totals_got(const struct mal_controller *controller)
{
	double share = mal_totals_attained(mal_totals_read(controller));

	if (isnan(share) || strcmp(mal_deciding_policy(controller)->name, "observe") == 0)
		return NAN;
	return share > 0 ? share : 0;
}

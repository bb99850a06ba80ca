/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * totals.c: what windows add up to: as it was, without balancing, and at best
 * (policies/model/model.h).
 */
#include "libmalleable/controller/load/totals.h"

#include <math.h>
#include <string.h>

#include "libmalleable/controller/cpus/owners.h"
#include "policies/interface/attained.h"
#include "policies/model/model.h"

static void add_rank(struct mal_rank_totals *totals, const struct mal_sample *sample)
{
	totals->work_s += sample->work_s;
	totals->barrier_s += sample->barrier_s;
	totals->serial_s += sample->serial_s;
	totals->mpi_s += sample->mpi_s;
}

/* Returns whether each rank had its first CPUs and no others since the last window. */
static bool was_alone(struct mal_controller *controller, const struct mal_sample *samples)
{
	struct mal_totals *totals = &controller->totals_own;
	const struct mal_segment *segment = &controller->step->segment;
	uint64_t before = totals->shared;
	bool alone = !totals->was_shared;

	totals->shared = 0;
	totals->was_shared = false;
	for (unsigned int rank = 0; rank < segment->rank_count; rank++) {
		const struct mal_counters *count = &segment->ranks[rank].count;

		totals->shared += count->borrows + count->grants;
		if (samples[rank].running &&
		    samples[rank].cpus != mal_cpumask_count(&controller->ranks[rank].home))
			alone = false;
	}
	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		struct mal_cpu_state cpu = mal_owner_read(controller, controller->step->cpu[i]);

		if (cpu.user != cpu.owner && cpu.user < segment->rank_count)
			totals->was_shared = true;
	}
	return alone && !totals->was_shared && totals->shared == before;
}

/* Its threads have said how much they computed, and not when (rank/cpus/unmanaged.h). */
static bool is_unmanaged(const struct mal_controller *controller, unsigned int rank,
			 const struct mal_sample *sample)
{
	return atomic_load(&controller->step->segment.ranks[rank].unmanaged) && sample->work_s > 0;
}

/* How long a rank's threads could compute. */
static double computing(const struct mal_controller *controller, unsigned int rank,
			const struct mal_sample *sample)
{
	return is_unmanaged(controller, rank, sample) ? sample->elapsed_s - sample->mpi_s
						      : mal_model_inside(sample);
}

/* Nobody shared: learn what teams lose inside regions. In the first window they were created. */
static void learn_loss(struct mal_controller *controller, const struct mal_sample *samples)
{
	struct mal_totals *totals = &controller->totals_own;

	if (!totals->windows)
		return;
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		const struct mal_sample *sample = &samples[rank];
		struct mal_rank_totals *load = &controller->rank_totals_own[rank];
		double inside = computing(controller, rank, sample);

		if (!sample->running || inside <= 0)
			continue;
		load->alone_s += inside * sample->cpus;
		load->alone_work_s += sample->work_s;
	}
}

/* What is known of a window. */
struct scene {
	const struct mal_controller *controller;
	const struct mal_sample *samples;
	const unsigned int *home; /* by rank: CPUs that it started with */
	double waiting_s;	  /* of CPUs whose ranks waited, added up */
};

/* At least, and at most. */
struct estimate {
	double min, max;
};

/*
 * How long an unmanaged rank takes on its first CPUs, times their number HOME. If K threads ran at
 * once for T seconds, that is T * max(1, K / HOME) there. So it takes at least as long as it did,
 * and as with all CPUs busy; at most as if all CPUs that it had were busy, or none, of which others
 * lent it LENT_S at most.
 */
static struct estimate unmanaged_work(const struct mal_sample *sample, unsigned int home,
				      unsigned int cpus, double lent_s)
{
	double busy = sample->elapsed_s - sample->mpi_s, own = sample->cpus,
	       at_once = sample->max ? fmin(sample->max, cpus) : cpus,
	       more = lent_s + fmax(own - home, 0) * busy,
	       min = fmax(sample->work_s, busy * fmin(own, home)),
	       max = home * busy + fmin(more, sample->work_s * fmax(1 - home / at_once, 0));

	return (struct estimate){min, fmax(min, max)};
}

/*
 * A rank's work with what its team loses inside regions: as in windows in which nobody shared, but
 * no more than was lost in this one. (A window may be of another kind of regions.)
 */
static struct estimate work_with_loss(const struct scene *scene, unsigned int rank)
{
	const struct mal_rank_totals *load = &scene->controller->rank_totals[rank];
	const struct mal_sample *sample = &scene->samples[rank];
	unsigned int home = scene->home[rank];
	struct estimate work = {sample->work_s, sample->work_s};
	bool known = load->alone_work_s > 0;

	if (is_unmanaged(scene->controller, rank, sample))
		work = unmanaged_work(sample, home, scene->controller->step->cpu_count,
				      scene->waiting_s - sample->mpi_s * sample->cpus);
	else if (known)
		work.max =
			fmax(mal_model_inside(sample) * home, sample->work_s + sample->barrier_s);
	if (known)
		work.min = work.max =
			fmax(work.min,
			     fmin(sample->work_s * load->alone_s / load->alone_work_s, work.max));
	return work;
}

/* What the window takes without us. */
static struct estimate without(const struct scene *scene)
{
	unsigned int ranks = scene->controller->step->segment.rank_count;
	const struct mal_usage usage = {.count = scene->home};
	struct mal_sample lossy[MAL_MAX_RANKS];
	struct estimate work[MAL_MAX_RANKS], window;
	bool unsure = false;

	memcpy(lossy, scene->samples, ranks * sizeof(lossy[0]));
	for (unsigned int rank = 0; rank < ranks; rank++) {
		if (!lossy[rank].running)
			continue;
		work[rank] = work_with_loss(scene, rank);
		unsure |= work[rank].max > work[rank].min;
		if (is_unmanaged(scene->controller, rank, &lossy[rank]))
			lossy[rank].serial_s = 0;
		lossy[rank].work_s = work[rank].min;
	}
	window.min = window.max = mal_model_window(lossy, ranks, &usage, NULL);
	for (unsigned int rank = 0; unsure && rank < ranks; rank++)
		if (lossy[rank].running)
			lossy[rank].work_s = work[rank].max;
	if (unsure)
		window.max = mal_model_window(lossy, ranks, &usage, NULL);
	return window;
}

void mal_totals_add(struct mal_controller *controller, const struct mal_sample *samples)
{
	struct mal_totals *totals = &controller->totals_own;
	unsigned int ranks = controller->step->segment.rank_count, cpus = 0, own = 0,
		     home[MAL_MAX_RANKS] = {0};
	double elapsed = mal_model_elapsed(samples, ranks),
	       communication = mal_model_communication(samples, ranks);
	struct scene scene = {controller, samples, home, 0};
	bool alone = was_alone(controller, samples);
	struct estimate off = {elapsed, elapsed};
	double sum = 0, even, ideal;

	memcpy(controller->last_own, samples, ranks * sizeof(*samples));
	for (unsigned int rank = 0; rank < ranks; rank++) {
		if (!samples[rank].running)
			continue;
		home[rank] = mal_cpumask_count(&controller->ranks[rank].home);
		cpus += home[rank];
		own += samples[rank].cpus;
		sum += samples[rank].work_s + samples[rank].serial_s;
		scene.waiting_s += samples[rank].mpi_s * samples[rank].cpus;
		add_rank(&controller->rank_totals_own[rank], &samples[rank]);
	}
	if (!cpus || sum <= 0 || communication > elapsed)
		return;
	/* With CPUs from outside there are more than at first. */
	cpus = own > cpus ? own : cpus;
	even = mal_model_window(samples, ranks, &(struct mal_usage){.count = home}, NULL);
	ideal = mal_model_ideal(samples, ranks, cpus);
	if (alone) {
		learn_loss(controller, samples);
	} else {
		/* What a team loses inside regions it loses without us too. */
		off = without(&scene);
		totals->unsure_s += off.max - off.min;
	}
	totals->windows++;
	totals->elapsed_s += elapsed;
	totals->off_s += off.min;
	totals->ideal_s +=
		alone && off.min > even ? ideal + off.min - even : ideal * off.min / even;
	mal_cpu_seconds_add(&totals->cpus, samples, ranks, cpus);
	/* The mean load, also where no CPU shortens the largest, as that is of one thread. */
	totals->balance_before += elapsed * (sum / cpus) / (even - communication);
	if (elapsed > communication)
		totals->balance_after += elapsed * (sum / cpus) / (elapsed - communication);
}

double mal_totals_got(const struct mal_controller *controller)
{
	const struct mal_totals *totals = &controller->totals;
	double share = mal_attained(totals->off_s, totals->ideal_s, totals->elapsed_s);

	if (isnan(share) || strcmp(controller->deciding.policy->name, "observe") == 0)
		return NAN;
	return share > 0 ? share : 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* whole.c: where the time of the step's CPUs went, by the ranks' counters. */
#include "libmalleable/controller/load/whole.h"

#include <math.h>

#include "libmalleable/base/clock.h"

/* A rank may have written anything. */
static double span(uint64_t ticks, double max_s)
{
	return fmin(mal_ticks_to_s(ticks), max_s);
}

static uint64_t busy_ticks(const struct mal_segment *segment, unsigned int rank)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < segment->thread_count; i++)
		sum += atomic_load(&mal_thread_slot(segment, rank, i)->busy);
	return sum;
}

/*
 * All that RANK counted, as one window; it does not run if that is nothing. False: what it did is
 * not known.
 */
static bool read_rank(const struct mal_controller *controller, unsigned int rank,
		      struct mal_sample *sample)
{
	const struct mal_segment *segment = &controller->step->segment;
	const struct mal_rank_slot *slot = &segment->ranks[rank];
	uint64_t serial = slot->count.serial, mpi = slot->count.mpi, region = slot->count.region,
		 busy = busy_ticks(segment, rank);
	double step_s = mal_ticks_to_s(mal_ticks() - controller->step->started), most, inside;
	struct mal_snapshot last;

	*sample = (struct mal_sample){.cpus = mal_cpumask_count(&controller->ranks[rank].home)};
	sample->elapsed_s = span(serial + mpi + region, step_s);
	sample->running = sample->elapsed_s > 0;
	/* What threads without slots did only its samples tell (rank/cpus/unmanaged.h). */
	if (atomic_load(&slot->unmanaged)) {
		if (!mal_snapshot_read(slot, &last) || !last.tick)
			return !sample->running;
		busy = last.busy;
		serial = last.serial;
	}
	most = sample->elapsed_s * controller->step->cpu_count;
	sample->work_s = span(busy, most);
	sample->serial_s = span(serial, sample->elapsed_s);
	sample->mpi_s = span(mpi, sample->elapsed_s);
	inside = span(slot->count.thread_ticks, most);
	sample->barrier_s = inside > sample->work_s ? inside - sample->work_s : 0;
	return true;
}

/* The step's CPUs: those that ranks began with, or what they had on average. */
static unsigned int count_cpus(const struct mal_controller *controller, unsigned int home)
{
	const struct mal_totals *totals = &controller->totals;
	double had = totals->elapsed_s > 0 ? totals->cpus.all_s / totals->elapsed_s : 0;

	return had > home ? (unsigned int)lround(had) : home;
}

struct mal_whole mal_whole_read(const struct mal_controller *controller)
{
	unsigned int ranks = controller->step->segment.rank_count, home = 0;
	struct mal_sample samples[MAL_MAX_RANKS] = {{0}};
	struct mal_whole whole = {0};
	double idle_s;

	for (unsigned int rank = 0; rank < ranks; rank++) {
		const struct mal_rank_slot *slot = &controller->step->segment.ranks[rank];

		if (!controller->ranks[rank].known)
			continue;
		if (!read_rank(controller, rank, &samples[rank]))
			return (struct mal_whole){0};
		home += samples[rank].cpus;
		whole.elapsed_s = fmax(whole.elapsed_s, samples[rank].elapsed_s);
		whole.mpi_s += samples[rank].mpi_s;
		if (samples[rank].cpus > 1)
			whole.mpi_idle_s += samples[rank].mpi_s * (samples[rank].cpus - 1);
		whole.regions += (double)slot->count.regions;
		if (!slot->unmanaged && slot->team <= MAL_MAX_CPUS)
			whole.threads += slot->team;
	}
	if (whole.elapsed_s <= 0)
		return whole;
	mal_cpu_seconds_add(&whole.cpus, samples, ranks, count_cpus(controller, home));
	idle_s = whole.cpus.all_s - whole.cpus.computing_s - whole.mpi_s;
	whole.mpi_idle_s = fmax(0, fmin(whole.mpi_idle_s, idle_s));
	return whole;
}

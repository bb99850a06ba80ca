/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* whole.c: where the time of the step's CPUs went, by the ranks' counters. */
#include "libmalleable/controller/load/whole.h"

#include <math.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/load/sampling.h"

/*
 * All that RANK counted, as one window; it does not run if that is nothing. False: what it did is
 * not known.
 */
static bool read_rank(const struct mal_controller *controller, unsigned int rank,
		      struct mal_sample *sample)
{
	const struct mal_segment *segment = &controller->step->segment;
	const struct mal_rank_slot *slot = &segment->ranks[rank];
	const struct mal_counters *count = &slot->count;
	struct mal_snapshot none = {0}, last;
	struct mal_snapshot all = {.busy = mal_segment_busy(segment, rank),
				   .serial = count->serial,
				   .mpi = count->mpi,
				   .thread_ticks = count->thread_ticks};

	*sample = (struct mal_sample){.cpus = mal_cpumask_count(&controller->ranks[rank].home)};
	sample->elapsed_s =
		mal_sampling_span(all.serial + all.mpi + count->region, 0,
				  mal_ticks_to_s(mal_ticks() - controller->step->started));
	sample->running = sample->elapsed_s > 0;
	/* What threads without slots did only its samples tell (rank/cpus/unmanaged.h). */
	if (atomic_load(&slot->unmanaged)) {
		if (!mal_snapshot_read(slot, &last) || !last.tick)
			return !sample->running;
		all.busy = last.busy;
		all.serial = last.serial;
	}
	mal_sampling_count(controller, &none, &all, sample);
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

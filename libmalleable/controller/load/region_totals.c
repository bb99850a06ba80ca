/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* region_totals.c: what the ranks did in the regions that their program named, by these names. */
#include "libmalleable/controller/load/region_totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/controller/load/sampling.h"

/* More than all is noise; much more was done on CPUs of ranks that are elsewhere. */
#define NOISE 1.01

bool mal_named_next(const struct mal_controller *controller, struct mal_named *at)
{
	const struct mal_segment *segment = &controller->step->segment;

	for (at->number += at->slot != NULL; at->rank < segment->rank_count; at->rank++) {
		at->slot = mal_region_slots(segment, at->rank) + at->number;
		if (controller->ranks[at->rank].known && at->number < MAL_NAMED_REGIONS &&
		    *at->slot->name) {
			memcpy(at->name, at->slot->name, MAL_REGION_NAME - 1);
			mal_make_printable(at->name, strlen(at->name), false);
			return true;
		}
		at->number = 0;
	}
	return false;
}

static int in_order(const void *a, const void *b)
{
	const struct mal_named *one = a, *other = b;
	int names = strcmp(one->name, other->name);

	return names ? names : (one->rank > other->rank) - (one->rank < other->rank);
}

/* Those that ran, in any order, into LIST, which has room for all. Returns how many. */
static size_t find_named(const struct mal_controller *controller, struct mal_named *list)
{
	struct mal_named at = {.rank = 0};
	size_t count = 0;

	while (mal_named_next(controller, &at))
		if (atomic_load(&at.slot->runs))
			list[count++] = at;
	return count;
}

/* Whether it is known what all threads of RANK did. */
static bool is_seen(const struct mal_controller *controller, unsigned int rank)
{
	const struct mal_segment *segment = &controller->step->segment;
	const struct mal_rank_slot *slot = &segment->ranks[rank];

	return atomic_load(&slot->unmanaged) ? atomic_load(&slot->team) == 1
					     : atomic_load(&mal_thread_slot(segment, rank, 0)->tid);
}

static uint64_t sum_of(const struct mal_region_slot *slot, enum mal_region_count what)
{
	uint64_t sum = atomic_load(&slot->sum[what]);

	return (int64_t)sum > 0 ? sum : 0;
}

static void add_rank(const struct mal_controller *controller, const struct mal_named *named,
		     struct mal_sample *sample)
{
	const struct mal_region_slot *slot = named->slot;
	double most_s = mal_ticks_to_s(mal_ticks() - controller->step->started);
	struct mal_snapshot none = {0}, all = {.busy = sum_of(slot, MAL_REGION_WORK),
					       .serial = sum_of(slot, MAL_REGION_SERIAL),
					       .mpi = sum_of(slot, MAL_REGION_MPI),
					       .thread_ticks = sum_of(slot, MAL_REGION_INSIDE)};

	*sample = (struct mal_sample){.running = true};
	sample->cpus = mal_cpumask_count(&controller->ranks[named->rank].home);
	sample->elapsed_s = mal_sampling_span(sum_of(slot, MAL_REGION_ELAPSED), 0, most_s);
	mal_sampling_count(controller, &none, &all, sample);
}

/*
 * By how much the step would be shorter at most if others had worked on CPUs for WAITS_S that idled
 * in waits, of which one rank's took LONGEST_S. NaN: nobody is known to use another's CPUs.
 */
static double offer_saves(const struct mal_controller *controller, const struct mal_whole *whole,
			  double waits_s, double longest_s)
{
	unsigned int ranks = 0;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		ranks += controller->ranks[rank].known;
	if (ranks < 2 || whole->regions <= 0)
		return NAN;
	return fmax(0, fmin(fmin(waits_s, whole->cpus.useful_s) / controller->step->cpu_count,
			    whole->elapsed_s - longest_s));
}

/* Sums over the ranks of a region. */
struct region_sums {
	double looked_s, waits_s, longest_wait_s; /* CPU seconds looked at and waited, a rank's */
	double computed_s, longest_s;		  /* of threads, of the longest rank */
	bool seen;				  /* all that its ranks compute */
};

/* A rank's part in a region, of which SAMPLE tells the times. */
static void add_times(const struct mal_named *named, const struct mal_sample *sample,
		      struct mal_region_total *total, struct region_sums *sums)
{
	const struct mal_region_slot *slot = named->slot;
	double looked_s = mal_sampling_span(sum_of(slot, MAL_REGION_LOOKED), 0, sample->elapsed_s);
	double waits_s = mal_sampling_span(sum_of(slot, MAL_REGION_WAITS), 0, looked_s);
	double offered_s = mal_sampling_span(sum_of(slot, MAL_REGION_OFFERED), 0, sample->mpi_s);

	sums->looked_s += looked_s * sample->cpus;
	sums->waits_s += waits_s * sample->cpus;
	sums->longest_wait_s = fmax(sums->longest_wait_s, waits_s);
	sums->computed_s += sample->serial_s + sample->work_s;
	sums->longest_s =
		fmax(sums->longest_s,
		     sample->serial_s + sample->work_s / (sample->cpus ? sample->cpus : 1));
	total->runs = slot->runs > total->runs ? slot->runs : total->runs;
	total->ranks++;
	total->cpu_count += sample->cpus;
	total->offered_s = fmax(total->offered_s, offered_s);
	total->whole.elapsed_s = fmax(total->whole.elapsed_s, sample->elapsed_s);
	total->whole.mpi_s += sample->mpi_s;
	total->whole.mpi_idle_s += sample->mpi_s * (sample->cpus ? sample->cpus - 1 : 0);
	total->whole.regions += (double)sum_of(slot, MAL_REGION_PARALLEL);
}

/* What COUNT regions of that name are together. Made printable, two names of a rank may be one. */
static struct mal_region_total sum_up(const struct mal_controller *controller,
				      const struct mal_whole *whole, const struct mal_named *named,
				      size_t count)
{
	struct mal_sample samples[MAL_MAX_RANKS];
	struct mal_region_total total = {.balance = NAN};
	struct region_sums sums = {.seen = true};

	memcpy(total.name, named->name, sizeof(total.name));
	for (size_t i = 0; i < count; i++) {
		struct mal_sample *sample = &samples[total.ranks];
		unsigned int rank = named[i].rank;
		uint32_t team = atomic_load(&controller->step->segment.ranks[rank].team);

		if (i && rank == named[i - 1].rank)
			continue;
		add_rank(controller, &named[i], sample);
		add_times(&named[i], sample, &total, &sums);
		sums.seen &= is_seen(controller, rank);
		if (team <= MAL_MAX_CPUS)
			total.whole.threads += team;
	}
	total.outside_part = sums.looked_s > 0 ? sums.waits_s / sums.looked_s : NAN;
	total.offer_saves_s = sums.looked_s > 0 ? offer_saves(controller, whole, sums.waits_s,
							      sums.longest_wait_s)
						: NAN;
	if (!sums.seen || !total.cpu_count)
		return total;
	mal_cpu_seconds_add(&total.whole.cpus, samples, total.ranks, total.cpu_count);
	if (total.whole.cpus.useful_s > NOISE * total.whole.cpus.all_s)
		total.whole.cpus = (struct mal_cpu_seconds){0};
	else if (sums.longest_s > 0)
		total.balance = sums.computed_s / total.cpu_count / sums.longest_s;
	return total;
}

/* Keep TOTAL if it is among the longest. */
static void keep(struct mal_region_totals *totals, struct mal_region_total total)
{
	size_t at = totals->count;

	while (at > 0 && totals->total[at - 1].whole.elapsed_s < total.whole.elapsed_s)
		at--;
	if (at == MAL_NAMED_REGIONS)
		return;
	if (totals->count < MAL_NAMED_REGIONS)
		totals->count++;
	memmove(&totals->total[at + 1], &totals->total[at],
		(totals->count - 1 - at) * sizeof(total));
	totals->total[at] = total;
}

void mal_region_totals_read(const struct mal_controller *controller, const struct mal_whole *whole,
			    struct mal_region_totals *totals)
{
	size_t most = controller->step->segment.rank_count * (size_t)MAL_NAMED_REGIONS, count, same;
	struct mal_named *list = calloc(most, sizeof(*list));

	totals->count = 0;
	if (!list)
		return;
	count = find_named(controller, list);
	qsort(list, count, sizeof(*list), in_order);
	for (size_t i = 0; i < count; i += same) {
		for (same = 1; i + same < count && strcmp(list[i].name, list[i + same].name) == 0;
		     same++)
			;
		keep(totals, sum_up(controller, whole, &list[i], same));
	}
	free(list);
}

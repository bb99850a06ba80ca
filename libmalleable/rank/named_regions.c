/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * named_regions.c: parts of the program that it names, and what its rank did in them: differences
 * of what it counts in any case.
 *
 * Invariant: a run counts once, however often its region begins inside it (t/unit/test_team.c:
 * named_regions_have_times).
 */
#include "libmalleable/rank/named_regions.h"

#include <string.h>

/* In runs of a region that take so long it is looked closer, for some microseconds a thread. */
#define LONG_S 10e-3

/* The present runs, by number. */
static struct run {
	unsigned int depth; /* how often the region has begun and not ended */
	bool looked;	    /* at waits outside MPI */
	bool was_short;	    /* the last run: it is not worth to look */
	uint64_t begin[MAL_REGION_COUNTS];
} runs[MAL_NAMED_REGIONS];
static unsigned int open_runs;
static uint64_t long_ticks;

/* Region NUMBER; NULL: there is none. */
static struct mal_region_slot *at(const struct mal_rank *rank, int number)
{
	struct mal_region_slot *slots = mal_region_slots(&rank->segment, rank->me);

	return number > 0 && number <= MAL_NAMED_REGIONS && *slots[number - 1].name
		       ? &slots[number - 1]
		       : NULL;
}

int mal_named_find(const struct mal_rank *rank, const char *name)
{
	struct mal_region_slot *slots = mal_region_slots(&rank->segment, rank->me);
	size_t length = 0;

	while (name && name[length] >= ' ' && name[length] <= '~')
		if (++length == MAL_REGION_NAME)
			return MALLEABLE_E_INVALID;
	if (!length || name[length])
		return MALLEABLE_E_INVALID;
	long_ticks = mal_s_to_ticks(LONG_S);
	for (int i = 0; i < MAL_NAMED_REGIONS; i++) {
		if (!*slots[i].name)
			memcpy(slots[i].name, name, length);
		if (strncmp(slots[i].name, name, MAL_REGION_NAME) == 0)
			return i + 1;
	}
	return MALLEABLE_E_FULL;
}

/* What the rank has counted up to now. Slots of threads are taken in their order. */
static void read_counts(const struct mal_rank *rank, uint64_t now[MAL_REGION_COUNTS])
{
	const struct mal_counters *counters = &rank->slot->count;
	uint64_t tick = mal_ticks(), work = 0;

	for (unsigned int i = 0; i < rank->segment.thread_count &&
				 atomic_load_explicit(&rank->threads[i].tid, memory_order_relaxed);
	     i++)
		work += atomic_load_explicit(&rank->threads[i].busy, memory_order_relaxed);
	now[MAL_REGION_ELAPSED] = now[MAL_REGION_LOOKED] = tick;
	now[MAL_REGION_WORK] = work;
	now[MAL_REGION_INSIDE] =
		atomic_load_explicit(&counters->thread_ticks, memory_order_relaxed);
	now[MAL_REGION_SERIAL] = atomic_load_explicit(&counters->serial, memory_order_relaxed) +
				 tick - rank->primary.last_leave;
	now[MAL_REGION_MPI] = atomic_load_explicit(&counters->mpi, memory_order_relaxed);
	now[MAL_REGION_OFFERED] = rank->declared.ticks;
	now[MAL_REGION_PARALLEL] = atomic_load_explicit(&counters->regions, memory_order_relaxed);
	now[MAL_REGION_WAITS] = rank->outside.waits;
}

/* Add the present run up to NOW. */
static void add_run(struct mal_region_slot *slot, struct run *run,
		    const uint64_t now[MAL_REGION_COUNTS])
{
	unsigned int known = run->looked ? MAL_REGION_COUNTS : MAL_REGION_LOOKED;

	for (unsigned int i = 0; i < known; i++)
		mal_count(&slot->sum[i], now[i] - run->begin[i]);
	run->was_short = now[MAL_REGION_ELAPSED] - run->begin[MAL_REGION_ELAPSED] < long_ticks;
}

bool mal_named_looks(int number, bool begins)
{
	const struct run *run = &runs[number > 0 && number <= MAL_NAMED_REGIONS ? number - 1 : 0];

	return begins ? !run->depth && !run->was_short : run->depth == 1 && run->looked;
}

int mal_named_begin(const struct mal_rank *rank, int number)
{
	struct mal_region_slot *slot = at(rank, number);
	struct run *run;

	if (!slot)
		return MALLEABLE_E_INVALID;
	run = &runs[number - 1];
	if (run->depth++)
		return 0;
	run->looked = !run->was_short;
	open_runs++;
	mal_count(&slot->runs, 1);
	read_counts(rank, run->begin);
	return 0;
}

int mal_named_end(const struct mal_rank *rank, int number)
{
	struct mal_region_slot *slot = at(rank, number);
	uint64_t now[MAL_REGION_COUNTS];
	struct run *run;

	if (!slot)
		return MALLEABLE_E_INVALID;
	run = &runs[number - 1];
	if (!run->depth)
		return MALLEABLE_E_NESTING;
	if (--run->depth)
		return 0;
	open_runs--;
	read_counts(rank, now);
	add_run(slot, run, now);
	return 0;
}

void mal_named_sample(const struct mal_rank *rank)
{
	struct mal_region_slot *slots = mal_region_slots(&rank->segment, rank->me);
	uint64_t now[MAL_REGION_COUNTS];

	if (!open_runs)
		return;
	read_counts(rank, now);
	for (unsigned int i = 0; i < MAL_NAMED_REGIONS; i++) {
		if (!runs[i].depth)
			continue;
		add_run(&slots[i], &runs[i], now);
		memcpy(runs[i].begin, now, sizeof(now));
		runs[i].looked = true;
	}
}

static uint64_t nanoseconds(uint64_t ticks)
{
	return (int64_t)ticks > 0 ? (uint64_t)(mal_ticks_to_s(ticks) * 1e9) : 0;
}

/* What the rank counted in RUN and those before it; NULL: since it became a rank. */
static void count_region(const struct mal_rank *rank, const struct mal_region_slot *slot,
			 const struct run *run, uint64_t now[MAL_REGION_COUNTS])
{
	read_counts(rank, now);
	if (!run)
		now[MAL_REGION_ELAPSED] =
			now[MAL_REGION_SERIAL] + now[MAL_REGION_MPI] + rank->slot->count.region;
	for (unsigned int i = 0; run && i < MAL_REGION_COUNTS; i++)
		now[i] = slot->sum[i] + (run->depth ? now[i] - run->begin[i] : 0);
}

int mal_named_times(const struct mal_rank *rank, int number, struct malleable_times *times)
{
	const struct mal_region_slot *slot = at(rank, number);
	struct malleable_times result;
	uint64_t now[MAL_REGION_COUNTS];
	size_t size = times ? times->size : 0;

	if ((number && !slot) || size < sizeof(size))
		return MALLEABLE_E_INVALID;
	count_region(rank, slot, number ? &runs[number - 1] : NULL, now);
	result = (struct malleable_times){
		.size = size,
		.runs = number ? slot->runs : 1,
		.elapsed = nanoseconds(now[MAL_REGION_ELAPSED]),
		.work = nanoseconds(now[MAL_REGION_WORK]),
		.idle = nanoseconds(now[MAL_REGION_INSIDE] - now[MAL_REGION_WORK]),
		.serial = nanoseconds(now[MAL_REGION_SERIAL]),
		.mpi = nanoseconds(now[MAL_REGION_MPI]),
		.offered = nanoseconds(now[MAL_REGION_OFFERED]),
		.parallel_regions = now[MAL_REGION_PARALLEL],
	};
	memcpy(times, &result, size < sizeof(result) ? size : sizeof(result));
	return 0;
}

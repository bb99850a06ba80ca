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

#define REGIONS_MAX 64
#define NAME_SIZE 64

/* Ticks that a rank has counted, or runs of parallel regions; sums may be below 0 for a moment. */
enum { ELAPSED, WORK, INSIDE, SERIAL, IN_MPI, OFFERED, PARALLEL, COUNTED };

static struct named {
	char name[NAME_SIZE];
	unsigned int depth; /* how often it has begun and not ended */
	uint64_t runs;
	uint64_t begin[COUNTED]; /* of the run that lasts */
	uint64_t sum[COUNTED];	 /* of those that have ended */
} table[REGIONS_MAX];
static int count;

int mal_named_find(const char *name)
{
	size_t length = 0;

	while (name && name[length] >= ' ' && name[length] <= '~')
		if (++length == NAME_SIZE)
			return MALLEABLE_E_INVALID;
	if (!length || name[length])
		return MALLEABLE_E_INVALID;
	for (int i = 0; i < count; i++)
		if (strcmp(table[i].name, name) == 0)
			return i + 1;
	if (count == REGIONS_MAX)
		return MALLEABLE_E_FULL;
	memcpy(table[count].name, name, length);
	return ++count;
}

static struct named *at(int number)
{
	return number > 0 && number <= count ? &table[number - 1] : NULL;
}

/* What the rank has counted up to now. Slots of threads are taken in their order. */
static void read_counts(const struct mal_rank *rank, uint64_t now[COUNTED])
{
	const struct mal_counters *counters = &rank->slot->count;
	uint64_t tick = mal_ticks(), work = 0;

	for (unsigned int i = 0; i < rank->segment.thread_count &&
				 atomic_load_explicit(&rank->threads[i].tid, memory_order_relaxed);
	     i++)
		work += atomic_load_explicit(&rank->threads[i].busy, memory_order_relaxed);
	now[ELAPSED] = tick;
	now[WORK] = work;
	now[INSIDE] = atomic_load_explicit(&counters->thread_ticks, memory_order_relaxed);
	now[SERIAL] = atomic_load_explicit(&counters->serial, memory_order_relaxed) + tick -
		      rank->primary.last_leave;
	now[IN_MPI] = atomic_load_explicit(&counters->mpi, memory_order_relaxed);
	now[OFFERED] = rank->declared.ticks;
	now[PARALLEL] = atomic_load_explicit(&counters->regions, memory_order_relaxed);
}

int mal_named_begin(const struct mal_rank *rank, int number)
{
	struct named *region = at(number);

	if (!region)
		return MALLEABLE_E_INVALID;
	if (!region->depth++) {
		region->runs++;
		read_counts(rank, region->begin);
	}
	return 0;
}

int mal_named_end(const struct mal_rank *rank, int number)
{
	struct named *region = at(number);
	uint64_t now[COUNTED];

	if (!region)
		return MALLEABLE_E_INVALID;
	if (!region->depth)
		return MALLEABLE_E_NESTING;
	if (--region->depth)
		return 0;
	read_counts(rank, now);
	for (unsigned int i = 0; i < COUNTED; i++)
		region->sum[i] += now[i] - region->begin[i];
	return 0;
}

static uint64_t nanoseconds(uint64_t ticks)
{
	return (int64_t)ticks > 0 ? (uint64_t)(mal_ticks_to_s(ticks) * 1e9) : 0;
}

int mal_named_times(const struct mal_rank *rank, int number, struct malleable_times *times)
{
	const struct named *region = at(number);
	const struct named all = {.runs = 1, .depth = 1};
	struct malleable_times result;
	uint64_t now[COUNTED];
	size_t size = times ? times->size : 0;

	if ((number && !region) || size < sizeof(size))
		return MALLEABLE_E_INVALID;
	read_counts(rank, now);
	if (!number) {
		region = &all;
		now[ELAPSED] = now[SERIAL] + now[IN_MPI] + rank->slot->count.region;
	}
	for (unsigned int i = 0; i < COUNTED; i++)
		now[i] = region->sum[i] + (region->depth ? now[i] - region->begin[i] : 0);
	result = (struct malleable_times){
		.size = size,
		.runs = region->runs,
		.elapsed = nanoseconds(now[ELAPSED]),
		.work = nanoseconds(now[WORK]),
		.idle = nanoseconds(now[INSIDE] - now[WORK]),
		.serial = nanoseconds(now[SERIAL]),
		.mpi = nanoseconds(now[IN_MPI]),
		.offered = nanoseconds(now[OFFERED]),
		.parallel_regions = now[PARALLEL],
	};
	memcpy(times, &result, size < sizeof(result) ? size : sizeof(result));
	return 0;
}

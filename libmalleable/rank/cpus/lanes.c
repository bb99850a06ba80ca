/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lanes.c: how long the rank's threads were busy on each CPU.
 *
 * Invariant: all CPUs together are what the rank's samples say (t/unit/test_lanes.c;
 * t/t3009-report.t).
 */
#include "libmalleable/rank/cpus/lanes.h"

#include <sched.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/rank/state/rank.h"

/* A time is divided so finely. */
#define PARTS 1024

static void add(const struct mal_rank *rank, uint32_t cpu, uint64_t ticks)
{
	struct mal_lanes *lanes = mal_lanes_of(&rank->segment, rank->me);
	uint64_t bit = UINT64_C(1) << cpu % 64;

	if (!ticks || cpu >= rank->segment.cpu_count)
		return;
	/* Threads that lend may do so beside the primary one. */
	atomic_fetch_add_explicit(&lanes->busy[cpu], ticks, memory_order_relaxed);
	if (!(atomic_load_explicit(&lanes->used[cpu / 64], memory_order_relaxed) & bit))
		atomic_fetch_or(&lanes->used[cpu / 64], bit);
}

/* The rank's own CPUs, one after the other. */
static uint32_t own(const struct mal_rank *rank, unsigned int index)
{
	unsigned int count = rank->cpus.owned_count;

	return count ? rank->cpus.owned[index % count] : mal_cpumask_next(&rank->home, 0);
}

/* Whether somebody binds thread INDEX, which is on CPU then. */
static bool has_place(const struct mal_rank *rank, unsigned int index, uint32_t *cpu)
{
	*cpu = atomic_load_explicit(&rank->threads[index].cpu, memory_order_relaxed);
	return *cpu < rank->segment.cpu_count;
}

/* What threads whose places are not known did, on all CPUs of the rank. */
static void add_loose(const struct mal_rank *rank, uint64_t ticks)
{
	unsigned int owned = rank->cpus.owned_count, count = owned + rank->cpus.borrowed_count;

	for (unsigned int i = 0; i < count; i++)
		add(rank, i < owned ? rank->cpus.owned[i] : rank->cpus.borrowed[i - owned],
		    ticks / count + (i < ticks % count));
}

/* Whether there are more threads than CPUs, so that unbound ones are on all of these alike. */
static bool are_more(const struct mal_rank *rank)
{
	unsigned int cpus = rank->cpus.owned_count;

	return cpus < rank->segment.thread_count &&
	       atomic_load_explicit(&rank->threads[cpus].tid, memory_order_relaxed);
}

/* What thread INDEX did. */
static void add_thread(const struct mal_rank *rank, unsigned int index, uint64_t ticks)
{
	uint32_t cpu;

	if (has_place(rank, index, &cpu))
		add(rank, cpu, ticks);
	else if (are_more(rank))
		add_loose(rank, ticks);
	else
		add(rank, own(rank, index), ticks);
}

void mal_lanes_thread(const struct mal_rank *rank, unsigned int index)
{
	struct mal_thread_slot *slot = &rank->threads[index];
	uint64_t busy = atomic_load_explicit(&slot->busy, memory_order_relaxed),
		 told = atomic_exchange_explicit(&slot->told, busy, memory_order_relaxed),
		 now = mal_ticks(),
		 since = atomic_exchange_explicit(&slot->told_at, now, memory_order_relaxed),
		 moved = atomic_load_explicit(&slot->moved, memory_order_relaxed), before = 0;

	if ((int64_t)(busy - told) <= 0)
		return;
	/* In whole numbers: callers have saved no floating-point state. */
	if (moved > since && moved < now)
		before = (busy - told) * ((moved - since) * PARTS / (now - since)) / PARTS;
	add(rank, atomic_load_explicit(&slot->from, memory_order_relaxed), before);
	add_thread(rank, index, busy - told - before);
}

/* Where the primary thread is outside regions. */
static uint32_t lane_of_primary(const struct mal_rank *rank)
{
	int cpu = sched_getcpu();
	uint32_t place;

	if (has_place(rank, 0, &place))
		return place;
	return cpu >= 0 && mal_cpumask_has(&rank->home, (unsigned int)cpu) ? (uint32_t)cpu
									   : own(rank, 0);
}

/* The growth of a sum since *TOLD. */
static uint64_t growth(uint64_t now, uint64_t *told)
{
	uint64_t more = (int64_t)(now - *told) > 0 ? now - *told : 0;

	*told = now;
	return more;
}

static uint64_t serial_so_far(const struct mal_rank *rank)
{
	return atomic_load_explicit(&rank->slot->count.serial, memory_order_relaxed) -
	       rank->work.not_serial;
}

void mal_lanes_open(struct mal_rank *rank)
{
	rank->lanes_own.serial = serial_so_far(rank);
}

void mal_lanes_sample(struct mal_rank *rank)
{
	for (unsigned int i = 0; i < rank->segment.thread_count; i++)
		if (atomic_load_explicit(&rank->threads[i].busy, memory_order_relaxed))
			mal_lanes_thread(rank, i);
	add(rank, lane_of_primary(rank), growth(serial_so_far(rank), &rank->lanes_own.serial));
	add_loose(rank, growth(rank->work.busy, &rank->lanes_own.loose));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outside.c: for how long the primary thread waits outside MPI and regions.
 *
 * Invariant: a thread that computes, or that others keep from its CPU, does not wait
 * (t/unit/test_outside.c: computing_is_not_outside; t/t3009-report.t).
 *
 * It waits in calls that are known to do so (rank/mpi/device.c), which may poll, and otherwise
 * while it has nothing to run. No clock is read where such waits begin and end: the kernel's clock
 * of the thread tells at each sample how long it ran in all. What it may have slept in MPI, at
 * barriers, in our own code or while other threads of the rank computed is none: it waited for so
 * long at least.
 */
#include "libmalleable/rank/outside.h"

#include "libmalleable/base/schedstat.h"
#include "libmalleable/rank/state/rank.h"

/* A call that takes longer is long: reading the clock of CPU time before the next costs little. */
#define LONG_S 150e-6
/* In a wait in MPI that clock is read again after a part of it, one over this. */
#define LOOK_AGAIN 8
/* In a window where less than one over this seems to be waited nobody looks closer, for 10 us. */
#define CLOSER 100

static uint64_t ticks_of(uint64_t ns)
{
	return mal_s_to_ticks((double)ns * 1e-9);
}

void mal_outside_look_at_polls(struct mal_rank *rank, uint64_t now)
{
	bool same = rank->outside.wait == rank->primary.last_leave;
	uint64_t ns;

	if (same &&
	    now - rank->outside.looked < (rank->outside.looked - rank->outside.wait) / LOOK_AGAIN)
		return;
	ns = mal_clock_ns(mal_thread_clock(rank->primary.tid));
	if (same)
		rank->outside_own.polled_ns += ns - rank->outside.look_ns;
	rank->outside_own.wait = rank->primary.last_leave;
	rank->outside_own.looked = now;
	rank->outside_own.look_ns = ns;
}

/* For how long the calling thread was ready and had no CPU. False: the kernel does not count it. */
static bool read_delay(uint64_t *ticks)
{
	uint64_t ns;
	bool known = mal_schedstat_waited("/proc/thread-self/schedstat", &ns);

	*ticks = ticks_of(ns);
	return known;
}

/* What is known now, but for the delay. */
static struct mal_accounts read_accounts(const struct mal_rank *rank,
					 const struct mal_snapshot *snapshot)
{
	const struct mal_counters *count = &rank->slot->count;
	uint64_t cpu = ticks_of(mal_clock_ns(CLOCK_THREAD_CPUTIME_ID));
	bool team = !rank->unmanaged && atomic_load(&rank->threads[0].tid);

	return (struct mal_accounts){.tick = snapshot->tick,
				     .serial = count->serial,
				     .cpu = cpu,
				     .others = team ? snapshot->outside_team : snapshot->cpu - cpu,
				     .barriers = count->region - rank->threads[0].busy,
				     .mpi = count->mpi - ticks_of(rank->outside.polled_ns),
				     .ours = count->overhead_ticks,
				     .delay = rank->outside.last.delay,
				     .in_calls = rank->outside.in_calls,
				     .spun = ticks_of(rank->outside.spun_ns)};
}

/* Of noise, differences may be below 0. */
static uint64_t since(uint64_t before, uint64_t now)
{
	return (int64_t)(now - before) > 0 ? now - before : 0;
}

static uint64_t without(uint64_t ticks, uint64_t part)
{
	return ticks > part ? ticks - part : 0;
}

/* For how long the thread slept in a serial part of the window that begins with LAST, at least. */
static uint64_t slept(struct mal_rank *rank, const struct mal_accounts *last,
		      struct mal_accounts *now)
{
	uint64_t elapsed = now->tick - last->tick, ticks = elapsed;

	ticks = without(ticks, since(last->cpu, now->cpu));
	ticks = without(ticks, since(last->others, now->others));
	ticks = without(ticks, since(last->barriers, now->barriers));
	ticks = without(ticks, since(last->mpi, now->mpi));
	ticks = without(ticks, since(last->ours, now->ours));
	if (ticks <= elapsed / CLOSER || rank->outside.no_delays)
		return 0;
	rank->outside_own.no_delays = !read_delay(&now->delay);
	return rank->outside.no_delays ? 0 : without(ticks, since(last->delay, now->delay));
}

void mal_outside_sample(struct mal_rank *rank, struct mal_snapshot *snapshot)
{
	const struct mal_accounts last = rank->outside.last;
	struct mal_accounts now = read_accounts(rank, snapshot);
	uint64_t serial = since(last.serial, now.serial), in_calls, waits;

	if (rank->outside.of == mal_self.tid) {
		in_calls = since(last.in_calls, now.in_calls);
		waits = slept(rank, &last, &now) + since(last.spun, now.spun);
		waits = waits > in_calls ? waits : in_calls;
		rank->outside_own.waits += waits < serial ? waits : serial;
	} else {
		rank->outside_own.of = mal_self.tid;
		rank->outside_own.long_ticks = mal_s_to_ticks(LONG_S);
		rank->outside_own.no_delays = !read_delay(&now.delay);
	}
	/* What others took while all this was read is in neither window. */
	now.tick = mal_ticks();
	rank->outside_own.last = now;
	snapshot->waits = rank->outside.waits;
}

void mal_device_begin(struct mal_device_call *call)
{
	call->begin = 0;
	if (!mal.active || !mal_self.primary || mal.region.depth || mal_self.mpi_depth ||
	    mal_self.testing)
		return;
	call->in_calls = mal.outside.in_calls;
	call->spun_ns = mal.outside.spun_ns;
	call->cpu_ns = mal.outside.long_call ? mal_clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
	call->begin = mal_ticks();
}

void mal_device_end(const struct mal_device_call *call)
{
	uint64_t ticks;

	if (!call->begin || !mal.active)
		return;
	ticks = mal_ticks() - call->begin;
	mal.outside_own.in_calls = call->in_calls + ticks;
	mal.outside_own.long_call = mal.outside.long_ticks && ticks > mal.outside.long_ticks;
	if (call->cpu_ns)
		mal.outside_own.spun_ns =
			call->spun_ns + mal_clock_ns(CLOCK_THREAD_CPUTIME_ID) - call->cpu_ns;
}

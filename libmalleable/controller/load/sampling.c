/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sampling.c: what ends a phase for all, and rounds of samples, from the segment to numbers. */
#include "libmalleable/controller/load/sampling.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/futex.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/load/plausibility.h"
#include "libmalleable/core/segment.h"
#include "policies/decide/windows.h"

/*
 * A kind has ceased where a rank passed none for so long: many programs make collective calls only
 * to begin. Where it comes back phases are long: the next may take as many times as long.
 */
#define WEAKER_KIND_AFTER_S 1.0
#define WEAKER_KIND_GROWS 2

/* A round that lasts for so long, and in which so many phases ended, was to be shorter. */
#define LONG_S 0.5
#define PHASES_MANY 8

void mal_sampling_open(struct mal_controller *controller)
{
	controller->sampling_own.windows = mal_windows_first();
	controller->sampling_own.kind = MAL_BOUNDARY_PERIOD;
	controller->sampling_own.weaker_kind_after = mal_s_to_ticks(WEAKER_KIND_AFTER_S);
}

void mal_sampling_use_short_windows(struct mal_controller *controller, bool short_ones)
{
	controller->sampling_own.windows.short_ones = short_ones;
}

void mal_sampling_adapt(struct mal_controller *controller, bool moved)
{
	mal_windows_adapt(&controller->sampling_own.windows, moved);
}

void mal_sampling_rank_came(struct mal_controller *controller)
{
	controller->sampling_own.since = mal_ticks();
}

void mal_sampling_rank_left(struct mal_controller *controller, unsigned int rank)
{
	controller->sampling_own.last[rank].valid = false;
}

static unsigned int running_ranks(const struct mal_controller *controller)
{
	unsigned int count = 0;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		count += controller->ranks[rank].running;
	return count;
}

#define BIT(kind) (1u << (kind))

/* The kinds that RANK passes, a bit for each. */
static unsigned int kinds_of(struct mal_controller *controller, unsigned int rank, uint64_t now)
{
	const struct mal_counters *counters = &controller->step->segment.ranks[rank].count;
	struct mal_sampling *sampling = &controller->sampling_own;
	unsigned int bits = 0;

	for (unsigned int kind = MAL_BOUNDARY_CALL; kind < MAL_BOUNDARY_KINDS; kind++) {
		struct mal_passed *last = &sampling->last[rank].passed[kind];
		uint64_t count = atomic_load(&counters->boundaries[kind]), away = now - last->tick;

		if (count != last->count) {
			if (last->count && kind > sampling->kind &&
			    away > sampling->weaker_kind_after)
				sampling->weaker_kind_after = WEAKER_KIND_GROWS * away;
			*last = (struct mal_passed){count, now};
		}
		if (count && now - last->tick <= sampling->weaker_kind_after)
			bits |= BIT(kind);
	}
	return bits;
}

/*
 * The strongest kind at which all ranks meet. Else the clock decides where each samples: from
 * repeating regions on, or if one has no such thing from any call on.
 */
static enum mal_boundary_kind best_kind(struct mal_controller *controller)
{
	struct mal_sampling *sampling = &controller->sampling_own;
	unsigned int of_all = UINT_MAX;
	uint64_t now = mal_ticks();
	bool calls = false;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		unsigned int bits;

		if (!controller->ranks[rank].running)
			continue;
		bits = kinds_of(controller, rank, now);
		calls |= bits == BIT(MAL_BOUNDARY_CALL);
		of_all &= bits;
	}
	if (of_all == UINT_MAX) /* nobody runs */
		return sampling->kind;
	for (unsigned int kind = MAL_BOUNDARY_MARK; kind > MAL_BOUNDARY_PERIOD; kind--)
		if (of_all & BIT(kind))
			return kind;
	if (sampling->kind > MAL_BOUNDARY_PERIOD)
		sampling->since = now;
	return calls && now - sampling->since > mal_s_to_ticks(WEAKER_KIND_AFTER_S)
		       ? MAL_BOUNDARY_CALL
		       : MAL_BOUNDARY_PERIOD;
}

/* Returns whether another kind than before ends a phase. */
static bool choose_kind(struct mal_controller *controller)
{
	enum mal_boundary_kind before = controller->sampling.kind;

	controller->sampling_own.kind = best_kind(controller);
	if (controller->sampling.kind == before)
		return false;
	mal_windows_count_anew(&controller->sampling_own.windows);
	return true;
}

uint64_t mal_sampling_boundaries(const struct mal_controller *controller, unsigned int rank)
{
	enum mal_boundary_kind chosen = controller->sampling.kind;
	uint64_t sum = 0;

	for (unsigned int kind = chosen; kind < MAL_BOUNDARY_KINDS; kind++)
		if (kind == chosen || chosen <= MAL_BOUNDARY_PERIOD)
			sum += controller->step->segment.ranks[rank].count.boundaries[kind];
	return sum;
}

static uint64_t furthest_boundary(const struct mal_controller *controller)
{
	uint64_t furthest = 0;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		uint64_t reached = mal_sampling_boundaries(controller, rank);

		if (controller->ranks[rank].running && reached > furthest)
			furthest = reached;
	}
	return furthest;
}

void mal_round_begin(struct mal_controller *controller)
{
	struct mal_header *header = controller->step->segment.header;
	struct mal_sampling *sampling = &controller->sampling_own;
	struct mal_windows *windows = &sampling->windows;

	choose_kind(controller);
	sampling->began_at = furthest_boundary(controller);
	sampling->began = mal_ticks();
	atomic_store(&header->kind, sampling->kind);
	atomic_store(&header->sample_at, sampling->began_at + windows->stride);
	/* The first samples are of no window. */
	atomic_store(&header->sample_after,
		     sampling->began + mal_s_to_ticks(sampling->was ? windows->window_s : 0));
	atomic_store(&header->arrivals, 0);
	atomic_store(&header->expected, running_ranks(controller));
	atomic_store(&header->round, ++sampling->round);
	atomic_fetch_add(&header->answers, 1);
	if (atomic_load(&header->awaiting))
		mal_futex_wake(&header->answers, INT32_MAX);
}

void mal_round_look(struct mal_controller *controller)
{
	struct mal_header *header = controller->step->segment.header;
	struct mal_sampling *sampling = &controller->sampling_own;
	uint64_t reached;

	if (choose_kind(controller))
		mal_round_begin(controller);
	reached = furthest_boundary(controller);
	if (reached > sampling->began_at && reached - sampling->began_at >= PHASES_MANY &&
	    mal_ticks_to_s(mal_ticks() - sampling->began) >= LONG_S &&
	    reached + 1 < atomic_load(&header->sample_at))
		atomic_store(&header->sample_at, reached + 1);
}

bool mal_round_is_complete(const struct mal_controller *controller)
{
	struct mal_header *header = controller->step->segment.header;
	uint32_t expected = running_ranks(controller);

	return expected && atomic_load(&header->arrivals) >= expected;
}

double mal_sampling_span(uint64_t now, uint64_t before, double max_s)
{
	double seconds;

	if (now <= before)
		return 0;
	seconds = mal_ticks_to_s(now - before);
	return seconds < max_s ? seconds : max_s;
}

void mal_sampling_count(const struct mal_controller *controller, const struct mal_snapshot *before,
			const struct mal_snapshot *now, struct mal_sample *sample)
{
	double elapsed = sample->elapsed_s, inside;

	sample->work_s =
		mal_sampling_span(now->busy, before->busy, elapsed * controller->step->cpu_count);
	sample->serial_s = mal_sampling_span(now->serial, before->serial, elapsed);
	sample->mpi_s = mal_sampling_span(now->mpi, before->mpi, elapsed);
	inside = mal_sampling_span(now->thread_ticks, before->thread_ticks,
				   elapsed * controller->step->segment.thread_count);
	sample->barrier_s = inside > sample->work_s ? inside - sample->work_s : 0;
}

static void make_sample(struct mal_controller *controller, unsigned int rank,
			const struct mal_snapshot *now, unsigned int cpus,
			struct mal_sample *sample)
{
	const struct mal_snapshot *before = &controller->sampling.last[rank].snapshot;
	uint64_t regions = now->regions - before->regions;
	enum mal_boundary_kind kind = controller->sampling.kind;

	memset(sample, 0, sizeof(*sample));
	sample->running = true;
	sample->elapsed_s = mal_sampling_span(now->tick, before->tick, 1e6);
	mal_sampling_count(controller, before, now, sample);
	if (regions)
		sample->region_s =
			mal_sampling_span(now->region, before->region, sample->elapsed_s) /
			(double)regions;
	sample->cpus = cpus;
	/* Any call of MPI ends no phase. */
	if (kind < MAL_BOUNDARY_PERIOD)
		kind = MAL_BOUNDARY_PERIOD;
	if (now->boundaries[kind] > before->boundaries[kind])
		sample->phases = (double)(now->boundaries[kind] - before->boundaries[kind]);
	sample->max = now->max < 65536 ? (unsigned int)now->max : 0;
	sample->team = now->team < 65536 ? (unsigned int)now->team : 65536;
}

static struct mal_cpu_time cpu_time(const struct mal_controller *controller, unsigned int rank,
				    const struct mal_snapshot *now, double elapsed_s)
{
	const struct mal_snapshot *before = &controller->sampling.last[rank].snapshot;
	double max_s = elapsed_s * controller->step->cpu_count;

	return (struct mal_cpu_time){
		mal_sampling_span(now->cpu, before->cpu, max_s),
		mal_sampling_span(now->outside_team, before->outside_team, max_s),
		mal_sampling_span(now->beside, before->beside, max_s),
		mal_sampling_span(now->waits, before->waits, elapsed_s)};
}

/* What all running ranks said in this round becomes the start of the next window. */
static void remember_round(struct mal_controller *controller, const struct mal_snapshot *snapshots)
{
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		if (!controller->ranks[rank].running)
			continue;
		controller->sampling_own.last[rank].snapshot = snapshots[rank];
		controller->sampling_own.last[rank].valid =
			snapshots[rank].round == controller->sampling.round;
	}
	controller->sampling_own.was = controller->sampling.kind;
}

/*
 * Whether NOW is whole phases after BEFORE. A sample that a rank gave by the clock, in the middle
 * of a phase at whose end all meet, would make its work too small beside that of the others.
 */
static bool is_of_phases(const struct mal_sampling *sampling, const struct mal_snapshot *before,
			 const struct mal_snapshot *now)
{
	enum mal_boundary_kind kind =
		sampling->kind > sampling->was ? sampling->kind : sampling->was;

	return kind <= MAL_BOUNDARY_PERIOD || (before->kind == kind && now->kind == kind);
}

enum mal_round mal_round_read(struct mal_controller *controller, struct mal_window *round)
{
	struct mal_snapshot snapshots[MAL_MAX_RANKS];
	struct mal_cpu_time times[MAL_MAX_RANKS];
	struct mal_sampling *sampling = &controller->sampling_own;
	struct mal_sample *samples = round->samples;
	bool window = true;
	double phases = 0;

	mal_window_begin(controller, round);
	round->elapsed_s = 0;
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		const struct mal_previous *before = &sampling->last[rank];
		struct mal_snapshot *now = &snapshots[rank];

		memset(&samples[rank], 0, sizeof(samples[rank]));
		memset(now, 0, sizeof(*now));
		if (!controller->ranks[rank].running)
			continue;
		if (!mal_snapshot_read(&controller->step->segment.ranks[rank], now) ||
		    now->round != sampling->round || !before->valid ||
		    !is_of_phases(sampling, &before->snapshot, now) ||
		    now->tick <= before->snapshot.tick) {
			window = false;
			continue;
		}
		make_sample(controller, rank, now, round->counts[rank], &samples[rank]);
		times[rank] = cpu_time(controller, rank, now, samples[rank].elapsed_s);
		phases = fmax(phases, samples[rank].phases);
		if (samples[rank].elapsed_s > round->elapsed_s)
			round->elapsed_s = samples[rank].elapsed_s;
	}
	if (!window || round->elapsed_s <= 0) {
		remember_round(controller, snapshots);
		mal_windows_throw_away(&sampling->windows);
		mal_plausibility_skip(controller);
		return MAL_ROUND_THROWN_AWAY;
	}
	if (!mal_windows_end(&sampling->windows, phases, round->elapsed_s))
		return MAL_ROUND_GOES_ON;
	remember_round(controller, snapshots);
	return mal_plausibility_window(controller, samples, times) ? MAL_ROUND_WINDOW
								   : MAL_ROUND_THROWN_AWAY;
}

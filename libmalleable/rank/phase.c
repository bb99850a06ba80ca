/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * phase.c: the end of a phase, where samples go up and plans are carried out.
 *
 * Invariant: ranks that meet give their samples at the same boundary (t/unit/test_phase.c:
 * by_the_count; t/t2002-programs.t).
 */
#include "libmalleable/rank/phase.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/base/fpstate.h"
#include "libmalleable/base/futex.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/cpus/lanes.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/cpus/unmanaged.h"
#include "libmalleable/rank/named_regions.h"
#include "libmalleable/rank/outside.h"
#include "libmalleable/rank/pages.h"
#include "libmalleable/rank/state/primary_thread.h"
#include "libmalleable/rank/team.h"

/*
 * Where all ranks meet, and the decision may be a plan, they wait for it, so that it takes effect
 * in this phase, not the next: for this part of the window, and ANSWER_MAX_S at most.
 */
#define ANSWER_PART 0.02
#define ANSWER_MAX_S 2e-3
/*
 * They also wait for the CPUs that a plan brings: the giver is here too, but may have woken later.
 * A region that starts without them runs short of CPUs to its end.
 */
#define HAND_OVER_PART 0.02
/* Stop waiting after so many late answers in a row. */
#define ANSWERS_MISSED 4

/* Add the kernel's figures for our threads, by which the controller checks our own. */
static void add_cpu_time(const struct mal_rank *rank, struct mal_snapshot *snapshot)
{
	uint64_t read = mal_threads_background_ns(), team = 0;
	uint64_t all = mal_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - read;

	for (unsigned int i = 0; i < rank->segment.thread_count; i++) {
		int32_t tid = atomic_load_explicit(&rank->threads[i].tid, memory_order_relaxed);

		team += tid ? mal_clock_ns(mal_thread_clock(tid)) : 0;
	}
	snapshot->cpu = mal_s_to_ticks((double)all * 1e-9);
	snapshot->beside = mal_s_to_ticks((double)read * 1e-9);
	if (!rank->unmanaged && team && team < all)
		snapshot->outside_team = mal_s_to_ticks((double)(all - team) * 1e-9);
}

/* Threads that it has without help: a team that may differ has one for each CPU. */
static unsigned int team_of_sample(const struct mal_rank *rank)
{
	return mal_team_is_mostly_free(rank) && rank->cpus.owned_count ? rank->cpus.owned_count
								       : rank->team.base;
}

void mal_phase_count_calls(struct mal_rank *rank)
{
	struct mal_counters *count = &rank->slot->count;
	uint64_t calls =
		count->boundaries[MAL_BOUNDARY_CALL] + count->boundaries[MAL_BOUNDARY_COLLECTIVE];

	mal_count(&count->overhead_ticks, (calls - rank->phase.calls) * rank->polls.call);
	rank->phase_own.calls = calls;
}

/* Count the serial time up to now, a tick, which is returned. */
static uint64_t count_serial(struct mal_rank *rank)
{
	uint64_t now = mal_ticks();

	mal_count(&rank->slot->count.serial, now - rank->primary.last_leave);
	mal_primary_left(rank, now);
	return now;
}

void mal_phase_look_outside(struct mal_rank *rank)
{
	struct mal_snapshot snapshot = {.tick = count_serial(rank)};

	add_cpu_time(rank, &snapshot);
	mal_outside_sample(rank, &snapshot);
}

/* What the rank did so far, of ROUND, at a boundary of KIND. */
static void write_snapshot(struct mal_rank *rank, uint64_t round, uint64_t kind)
{
	struct mal_counters *count = &rank->slot->count;
	uint64_t now = count_serial(rank);
	struct mal_snapshot snapshot;

	rank->phase_own.serial = count->serial;
	mal_phase_count_calls(rank);
	snapshot = (struct mal_snapshot){
		.round = round,
		.kind = kind,
		.tick = now,
		.busy = mal_segment_busy(&rank->segment, rank->me),
		.serial = count->serial,
		.mpi = count->mpi,
		.region = count->region,
		.thread_ticks = count->thread_ticks,
		.regions = count->regions,
		.team = team_of_sample(rank),
		.max = mal_team_max(rank),
	};
	for (unsigned int i = 0; i < MAL_BOUNDARY_KINDS; i++)
		snapshot.boundaries[i] = count->boundaries[i];
	mal_unmanaged_sample(rank, &snapshot);
	mal_lanes_sample(rank);
	if (rank->bounds.limit && (!snapshot.max || snapshot.max > rank->bounds.limit))
		snapshot.max = rank->bounds.limit;
	add_cpu_time(rank, &snapshot);
	mal_outside_sample(rank, &snapshot);
	mal_named_sample(rank);
	mal_pages_sample(rank, now);

	rank->phase_own.last_sample = snapshot.tick;
	mal_snapshot_write(rank->slot, &snapshot);
}

static void publish_sample(struct mal_rank *rank, uint64_t round, enum mal_boundary_kind kind)
{
	struct mal_header *header = rank->segment.header;

	rank->phase_own.sampled_round = round;
	write_snapshot(rank, round, kind);
	if (atomic_fetch_add(&header->arrivals, 1) + 1 == atomic_load(&header->expected))
		mal_futex_post(&header->wake);
}

/* Whether all ranks meet where a phase ends now. */
static bool all_meet(const struct mal_rank *rank)
{
	return atomic_load_explicit(&rank->segment.header->kind, memory_order_relaxed) >
	       MAL_BOUNDARY_PERIOD;
}

void mal_phase_follow_plan(struct mal_rank *rank)
{
	struct mal_fpstate saved;
	uint64_t begin;

	if (!mal_rule(rank, MAL_RULE_BIND) || rank->bounds.disabled)
		return;
	saved = mal_fpstate_save();
	begin = mal_ticks();
	mal_cpus_apply_plan(rank);
	mal_team_follow(rank, mal_cpus_to_use(rank, rank->cpus.owned_count));
	mal_count(&rank->slot->count.overhead_ticks, mal_ticks() - begin);
	mal_fpstate_restore(&saved);
}

/* Whether CPUs of the plan have not been handed over to us yet. */
static bool more_to_come(const struct mal_rank *rank)
{
	for (unsigned int cpu = 0; cpu < rank->segment.cpu_count; cpu++) {
		const struct mal_cpu_slot *slot = &rank->segment.cpus[cpu];

		if (mal_cpumask_has(&rank->allocation, cpu) &&
		    atomic_load_explicit(&slot->target, memory_order_relaxed) == rank->me &&
		    mal_word_read(&slot->word).owner != rank->me)
			return true;
	}
	return false;
}

/* Wait for the controller's answer to our sample, and if that is a plan, for the CPUs it brings. */
static void follow_answer(struct mal_rank *rank, uint32_t answers, uint64_t window)
{
	struct mal_header *header = rank->segment.header;
	uint64_t begin = mal_ticks(), max = mal_s_to_ticks(ANSWER_MAX_S), now;
	uint64_t hand_over = (uint64_t)((double)window * HAND_OVER_PART);

	if (rank->phase.missed == ANSWERS_MISSED)
		return;
	if ((double)window * ANSWER_PART < (double)max)
		max = (uint64_t)((double)window * ANSWER_PART);
	atomic_fetch_add(&header->awaiting, 1);
	for (now = begin; now - begin < max && atomic_load(&header->answers) == answers;
	     now = mal_ticks())
		mal_futex_wait(&header->answers, answers,
			       (uint64_t)(mal_ticks_to_s(begin + max - now) * 1e9));
	atomic_fetch_sub(&header->awaiting, 1);
	rank->phase_own.missed =
		atomic_load(&header->answers) == answers ? rank->phase.missed + 1 : 0;
	if (atomic_load_explicit(&header->plan, memory_order_acquire) != rank->cpus.seen_plan) {
		mal_phase_follow_plan(rank);
		while (more_to_come(rank) && mal_ticks() - begin < hand_over)
			syscall(SYS_sched_yield);
		if (mal_cpus_refresh(rank))
			mal_team_follow(rank, mal_cpus_to_use(rank, rank->cpus.owned_count));
	}
	mal_count(&rank->slot->count.overhead_ticks, mal_ticks() - begin);
}

__attribute__((noinline)) static void sample(struct mal_rank *rank, uint64_t round,
					     enum mal_boundary_kind kind)
{
	uint32_t answers = atomic_load(&rank->segment.header->answers);
	uint64_t before = rank->phase.last_sample;
	struct mal_fpstate saved;

	if (!mal_rule(rank, MAL_RULE_READY))
		return;
	saved = mal_fpstate_save();
	publish_sample(rank, round, kind);
	if (mal_rule(rank, MAL_RULE_AWAIT) && before && all_meet(rank))
		follow_answer(rank, answers, rank->phase.last_sample - before);
	mal_fpstate_restore(&saved);
}

/* Ranks that do not meet give samples by the clock. */
__attribute__((noinline)) static void sample_by_clock(struct mal_rank *rank, uint64_t round,
						      enum mal_boundary_kind kind)
{
	if (mal_ticks() >=
	    atomic_load_explicit(&rank->segment.header->sample_after, memory_order_relaxed))
		sample(rank, round, kind);
}

/* A boundary that counts. Ranks that meet give a sample at the same one. */
static inline void pass(struct mal_rank *rank, enum mal_boundary_kind kind, uint64_t number)
{
	const struct mal_header *header = rank->segment.header;
	uint64_t round = atomic_load_explicit(&header->round, memory_order_acquire);

	if (round == rank->phase.sampled_round)
		return;
	if (!all_meet(rank))
		sample_by_clock(rank, round, kind);
	else if (number >= atomic_load_explicit(&header->sample_at, memory_order_relaxed))
		sample(rank, round, kind);
}

/* Apart: the usual boundary has no plan, and saves no register. */
__attribute__((noinline)) static void pass_with_plan(struct mal_rank *rank,
						     enum mal_boundary_kind kind, uint64_t number)
{
	mal_phase_follow_plan(rank);
	pass(rank, kind, number);
}

void mal_phase_boundary(enum mal_boundary_kind kind)
{
	uint32_t chosen = atomic_load_explicit(&mal.segment.header->kind, memory_order_relaxed);
	uint64_t number;

	if (mal.region.depth)
		return;
	number = mal_count(&mal.slot->count.boundaries[kind], 1);
	if (kind != chosen && (kind < chosen || chosen > MAL_BOUNDARY_PERIOD))
		return;
	if (mal_phase_has_plan(&mal))
		pass_with_plan(&mal, kind, number);
	else
		pass(&mal, kind, number);
}

void mal_phase_region(const void *where)
{
	if (!all_meet(&mal) &&
	    mal_period_event(&mal.phase_own.period,
			     (uint32_t)((uintptr_t)where ^ (uintptr_t)where >> 32)))
		mal_phase_boundary(MAL_BOUNDARY_PERIOD);
}

void mal_phase_end(struct mal_rank *rank)
{
	if (!mal_self.primary || rank->region.depth || mal_self.mpi_depth)
		return;
	mal_pages_look_next(rank);
	write_snapshot(rank, rank->phase.sampled_round, rank->slot->snapshot.kind);
}

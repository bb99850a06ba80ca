/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* phase.c: where a phase ends: samples go up and plans are carried out there. */
#include "libmalleable/rank/phase.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/core/futex.h"
#include "libmalleable/rank/bind.h"
#include "libmalleable/rank/cpus.h"
#include "libmalleable/rank/events.h"
#include "libmalleable/rank/loose.h"
#include "libmalleable/rank/period.h"
#include "libmalleable/rank/state.h"
#include "libmalleable/rank/team.h"

/*
 * Where all ranks meet, they wait for the decision on what they said, so that it takes effect in this phase and not in the
 * next: this part of the window at most, and never longer than that.
 */
#define ANSWER_PART 0.003
#define ANSWER_MOST_S 1e-3
/*
 * And for the CPUs that a plan brings: who gives them is here too, but may have been woken later. A region that began without
 * them would run short of CPUs to its end.
 */
#define HAND_OVER_PART 0.02
/* After so many answers in a row that came too late they wait no more. */
#define ANSWERS_MISSED 4

static enum mal_boundary_kind strongest;
static uint64_t boundaries;
static uint64_t said_round;
static uint64_t last_said; /* when */
static struct mal_period period;

static uint64_t busy_ticks(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < mal.segment.thread_count; i++) {
		if (!atomic_load_explicit(&mal.threads[i].tid, memory_order_relaxed))
			break;
		sum += atomic_load_explicit(&mal.threads[i].busy, memory_order_relaxed);
	}
	return sum;
}

static void say_sample(uint64_t round)
{
	struct mal_header *header = mal.segment.header;
	struct mal_counters *count = &mal.slot->count;
	uint64_t now = mal_ticks();
	struct mal_snapshot snapshot;

	mal_count(&count->serial, now - mal.last_leave);
	mal.last_leave = now;
	snapshot = (struct mal_snapshot){
		.round = round,
		.boundary = boundaries,
		.kind = strongest,
		.tick = now,
		.busy = busy_ticks(),
		.serial = count->serial,
		.mpi = count->mpi,
		.region = count->region,
		.thread_ticks = count->thread_ticks,
		.regions = count->regions,
		.team = mal.base,
		.most = mal_team_most(),
	};
	mal_loose_sample(&snapshot);

	said_round = round;
	last_said = snapshot.tick;
	mal_snapshot_write(mal.slot, &snapshot);
	if (atomic_fetch_add(&header->arrivals, 1) + 1 == atomic_load(&header->expected))
		mal_futex_post(&header->kick);
}

/* Is a sample wanted here? Ranks that count the same boundaries speak at the same one, others by the clock. */
static bool sample_is_due(const struct mal_header *header)
{
	if (strongest == MAL_BOUNDARY_PERIOD)
		return mal_ticks() >= atomic_load_explicit(&header->sample_after, memory_order_relaxed);
	return boundaries >= atomic_load_explicit(&header->sample_at, memory_order_relaxed);
}

void mal_phase_follow_plan(void)
{
	uint64_t begin;

	if (!mal.plan_unfinished &&
	    atomic_load_explicit(&mal.segment.header->plan, memory_order_acquire) == mal.seen_plan)
		return;
	if (!mal_rule(MAL_RULE_BIND))
		return;
	begin = mal_ticks();
	mal_cpus_apply_plan();
	mal_team_follow(mal_cpus_to_use(mal.own_count));
	mal_count(&mal.slot->count.own, mal_ticks() - begin);
}

/* CPUs of the plan that others have not given to us yet. */
static bool more_to_come(void)
{
	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++) {
		const struct mal_cpu_slot *slot = &mal.segment.cpus[cpu];

		if (mal_cpumask_has(&mal.allocation, cpu) &&
		    atomic_load_explicit(&slot->target, memory_order_relaxed) == mal.me &&
		    mal_word_read(&slot->word).owner != mal.me)
			return true;
	}
	return false;
}

/* Wait for the answer to the sample just given, and where it is a plan, for the CPUs that it brings. */
static void follow_answer(uint32_t answers, uint64_t window)
{
	struct mal_header *header = mal.segment.header;
	uint64_t begin = mal_ticks(), most = mal_s_to_ticks(ANSWER_MOST_S), now;
	uint64_t hand_over = (uint64_t)((double)window * HAND_OVER_PART);
	static unsigned int missed;

	if (missed == ANSWERS_MISSED)
		return;
	if ((double)window * ANSWER_PART < (double)most)
		most = (uint64_t)((double)window * ANSWER_PART);
	atomic_fetch_add(&header->awaiting, 1);
	for (now = begin; now - begin < most && atomic_load(&header->answers) == answers; now = mal_ticks())
		mal_futex_wait(&header->answers, answers, (uint64_t)(mal_ticks_to_s(begin + most - now) * 1e9));
	atomic_fetch_sub(&header->awaiting, 1);
	missed = atomic_load(&header->answers) == answers ? missed + 1 : 0;
	if (atomic_load_explicit(&header->plan, memory_order_acquire) != mal.seen_plan) {
		mal_phase_follow_plan();
		while (more_to_come() && mal_ticks() - begin < hand_over)
			syscall(SYS_sched_yield);
		if (mal_cpus_refresh())
			mal_team_follow(mal_cpus_to_use(mal.own_count));
	}
	mal_count(&mal.slot->count.own, mal_ticks() - begin);
}

void mal_phase_boundary(enum mal_boundary_kind kind)
{
	struct mal_header *header = mal.segment.header;
	uint64_t round;

	if (kind < strongest || mal.depth)
		return;
	if (kind > strongest) {
		strongest = kind;
		boundaries = 0;
	}
	boundaries++;
	atomic_store_explicit(&mal.slot->count.boundaries, boundaries, memory_order_relaxed);
	mal_phase_follow_plan();
	round = atomic_load_explicit(&header->round, memory_order_acquire);
	if (round != said_round && mal_rule(MAL_RULE_READY) && sample_is_due(header)) {
		uint32_t answers = atomic_load(&header->answers);
		uint64_t before = last_said;

		mal_events_say();
		say_sample(round);
		if (mal_rule(MAL_RULE_BIND) && before && strongest > MAL_BOUNDARY_PERIOD)
			follow_answer(answers, last_said - before);
	}
}

void mal_phase_region(const void *where)
{
	if (strongest > MAL_BOUNDARY_PERIOD)
		return;
	if (mal_period_event(&period, (uint32_t)((uintptr_t)where ^ (uintptr_t)where >> 32)))
		mal_phase_boundary(MAL_BOUNDARY_PERIOD);
}

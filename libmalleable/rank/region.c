/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region.c: before and after each outermost parallel region of the primary thread.
 *
 * Invariant: a region has the number of threads that its clause requests (t/unit/test_region.c:
 * smaller_than_chosen; t/t2005-patterns.t).
 */
#include "libmalleable/rank/region.h"

#include "libmalleable/base/fpstate.h"
#include "libmalleable/core/request.h"
#include "libmalleable/prover/prove.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/length.h"
#include "libmalleable/rank/mpi_test_loops.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/region_table.h"
#include "libmalleable/rank/sizing.h"
#include "libmalleable/rank/state/primary_thread.h"
#include "libmalleable/rank/team.h"
#include "libmalleable/rank/wait.h"
#include "libmalleable/rank/wait_helper.h"

/* After leaving MPI borrow nothing for this long: the others are about to leave it too. */
#define SETTLE_S 200e-6
/*
 * In regions shorter than this threads are timed in one of TIMED_EVERY runs: reading the clock
 * takes as long as they do.
 */
#define SHORT_REGION_S 10e-6
#define TIMED_EVERY 8

/*
 * Waiting threads must not occupy CPUs that they share or that their rank may soon lend. But where
 * the PROGRAM chose more threads than CPUs, they wait as they would without us: libomp's go on, as
 * it may run many nested regions, and libgomp's soon sleep.
 */
static enum mal_linger choose_linger(const struct mal_rank *rank, const struct mal_region *region,
				     bool program)
{
	if (rank->region.oversubscribed)
		return program && !rank->ompt.for_gomp ? MAL_LINGER_USUAL : MAL_LINGER_NONE;
	if (!mal_sizing_may_share(rank, region) ||
	    !atomic_load_explicit(&rank->segment.header->borrowers, memory_order_relaxed))
		return MAL_LINGER_USUAL;
	return MAL_LINGER_SHORT;
}

static bool preparation_is_current(const struct mal_rank *rank)
{
	const struct mal_header *header = rank->segment.header;

	return atomic_load_explicit(&header->rules, memory_order_relaxed) == rank->prepared.rules &&
	       atomic_load_explicit(&header->schedule, memory_order_relaxed) ==
		       rank->prepared.schedule &&
	       atomic_load_explicit(&header->plan, memory_order_relaxed) == rank->prepared.plan &&
	       atomic_load_explicit(&header->borrowers, memory_order_relaxed) ==
		       rank->prepared.borrowers &&
	       atomic_load_explicit(&rank->slot->changes, memory_order_relaxed) ==
		       rank->cpus.prepared_changes &&
	       atomic_load_explicit(&rank->team.reported_threads, memory_order_relaxed) ==
		       rank->prepared.reported_threads &&
	       rank->team.size == rank->prepared.team && !rank->cpus.plan_unfinished;
}

static void record_preparation(struct mal_rank *rank)
{
	const struct mal_header *header = rank->segment.header;

	rank->prepared_own.number++;
	rank->prepared_own.rules = atomic_load_explicit(&header->rules, memory_order_relaxed);
	rank->prepared_own.schedule = atomic_load_explicit(&header->schedule, memory_order_relaxed);
	rank->prepared_own.plan = rank->cpus.seen_plan;
	rank->prepared_own.borrowers =
		atomic_load_explicit(&header->borrowers, memory_order_relaxed);
	mal_cpus_prepared(rank);
	rank->prepared_own.reported_threads =
		atomic_load_explicit(&rank->team.reported_threads, memory_order_relaxed);
	rank->prepared_own.team = rank->team.size;
}

/* Whether nothing has changed since REGION was prepared, and it needs nothing of its own. */
static bool is_prepared(const struct mal_rank *rank, const struct mal_region *region,
			unsigned int requested)
{
	return region->prepared == rank->prepared.number &&
	       (!requested || requested == rank->team.size) && preparation_is_current(rank) &&
	       !atomic_load_explicit(&rank->segment.header->free_cpus, memory_order_relaxed);
}

/*
 * A region begins in which threads share CPUs, or use those of others. If it could use more, ask
 * for some: lenders help the one that is expected to end last.
 */
static void begin_sharing(struct mal_rank *rank, uint64_t now)
{
	unsigned int cpus = rank->cpus.owned_count + rank->cpus.borrowed_count;
	uint64_t length = (uint64_t)(rank->region.current->work / cpus);
	bool asks = rank->region.oversubscribed && mal_rule(rank, MAL_RULE_LEND);

	if (asks)
		mal_borrower_set(&rank->segment, rank->me, true);
	mal_request_open(&rank->segment, rank->me, now, now + length, cpus, asks);
}

/* Borrow free CPUs for up to MAX threads, unless the others are about to leave MPI. */
static void borrow(struct mal_rank *rank, unsigned int max, uint64_t now)
{
	unsigned int cpus = rank->cpus.owned_count + rank->cpus.borrowed_count;

	max = mal_cpus_to_use(rank, max);
	if (max > cpus && now - rank->primary.left_mpi > rank->region.settle &&
	    atomic_load_explicit(&rank->segment.header->free_cpus, memory_order_relaxed))
		mal_cpus_borrow(rank, max - cpus);
}

/* The region has a team of another size than without us: what comes of that is told. */
static void note_difference(const struct mal_rank *rank, unsigned int team)
{
	uint32_t differs = (rank->team.own == 1 && team > 1 ? MAL_DIFFERS_ONE : 0u) |
			   (!rank->proofs.on || rank->region.current->facts & MAL_REGION_SUMS
				    ? MAL_DIFFERS_SUMS
				    : 0u);

	if (differs & ~atomic_load_explicit(&rank->slot->differs, memory_order_relaxed))
		atomic_fetch_or_explicit(&rank->slot->differs, differs, memory_order_relaxed);
}

/* Take the CPUs that the rank has now for a region. Returns whether they changed. */
static bool take_cpus(struct mal_rank *rank, const struct mal_region *current, bool clause)
{
	uint32_t seen = rank->cpus.seen_changes;
	bool changed;

	mal_team_look(rank);
	if (!clause && mal_phase_has_plan(rank) && mal_team_is_free(rank))
		mal_phase_follow_plan(rank);
	if (rank->cpus.borrowed_count && !mal_sizing_may_share(rank, current))
		mal_cpus_release(rank);
	mal_cpus_refresh(rank);
	/* What follows a plan, and what releases, has refreshed too. */
	changed = rank->cpus.seen_changes != seen;
	if (changed && mal_team_is_free(rank))
		mal_team_follow(rank, mal_cpus_to_use(rank, rank->cpus.owned_count));
	return changed;
}

/* Set the team of a region that asks for no size. Returns its size. */
static unsigned int set_team(struct mal_rank *rank, const struct mal_region *current)
{
	unsigned int team =
		mal_team_clamp(rank, mal_team_may_differ(rank) ? mal_sizing_team(rank, current)
				     : rank->region.kept       ? rank->team.own
							       : rank->team.base);

	mal_team_set(rank, team);
	rank->region_own.widened = team > rank->team.base;
	if (team != rank->team.own)
		note_difference(rank, team);
	return team;
}

/*
 * Prepare a region in which threads may be bound: CPUs, team, places. Returns whether CPUs or
 * places changed.
 */
__attribute__((noinline)) static bool prepare(struct mal_rank *rank, unsigned int requested,
					      uint64_t now)
{
	struct mal_region *current = rank->region.current;
	bool clause = requested && (requested != rank->team.size || current->clause);
	unsigned int team = clause ? requested : rank->team.size;
	bool changed = take_cpus(rank, current, clause), linger_changed;

	if (!rank->cpus.owned_count)
		return changed;
	if (mal_sizing_may_share(rank, current))
		borrow(rank,
		       mal_team_may_differ(rank) && !clause ? rank->segment.thread_count : team,
		       now);
	if (!clause)
		team = set_team(rank, current);
	rank->region_own.running = team;
	rank->region_own.oversubscribed = team > rank->cpus.owned_count + rank->cpus.borrowed_count;
	rank->region_own.sized = !clause && mal_team_may_differ(rank);
	rank->region_own.may_share_cpus = rank->region.oversubscribed || rank->cpus.borrowed_count;
	linger_changed = mal_team_set_linger(
		rank,
		choose_linger(rank, current,
			      clause || (team == rank->team.base && !rank->team.reported_more &&
					 !rank->team.reported_two &&
					 !(rank->proofs.on && mal_team_may_differ(rank)))));
	atomic_store_explicit(&rank->slot->team, team, memory_order_relaxed);
	changed |= mal_bind_team(rank, team);
	if (changed || linger_changed || clause || rank->region.may_share_cpus ||
	    !preparation_is_current(rank))
		record_preparation(rank);
	if (!clause && !rank->region.may_share_cpus)
		current->prepared = rank->prepared.number;
	current->prepared_to_share = mal_sizing_may_share(rank, current);
	mal_team_set_schedule(
		rank, atomic_load_explicit(&rank->segment.header->schedule, memory_order_relaxed));
	if (rank->region.may_share_cpus)
		begin_sharing(rank, now);
	return changed;
}

/* The program's own threads may share CPUs: then CPU time tells what they worked. */
static void note_shared(struct mal_rank *rank)
{
	rank->region_own.may_share_cpus =
		rank->cpus.owned_count && rank->region.running > rank->cpus.owned_count;
}

/* Returns the tick at which the region begins. */
__attribute__((noinline)) static uint64_t prepare_saving_fp(struct mal_rank *rank,
							    unsigned int requested, uint64_t now)
{
	struct mal_fpstate saved;
	bool changed;

	if (!mal_rule(rank, MAL_RULE_BIND)) {
		note_shared(rank);
		return now;
	}
	saved = mal_fpstate_save();
	changed = prepare(rank, requested, now);
	mal_fpstate_restore(&saved);
	if (changed) {
		uint64_t ready = mal_ticks();

		mal_count(&rank->slot->count.overhead_ticks, ready - now);
		now = ready;
	}
	return now;
}

/*
 * See mal_rank.weight. Counted for each code address, so that no sequence of regions can hide one.
 */
static unsigned int choose_weight(const struct mal_rank *rank, struct mal_region *region)
{
	if (!region->usual || region->usual >= rank->region.short_region)
		return 1;
	return region->runs++ % TIMED_EVERY ? 0 : TIMED_EVERY;
}

/*
 * Regions were classified: a bound one has the team that the program knows of, whatever rules, and
 * one whose results could differ the team that it has without us. Returns how many threads are
 * requested then.
 */
static unsigned int begin_proved(struct mal_rank *rank, const void *where, unsigned int requested)
{
	unsigned int keeps;

	rank->region_own.kept = rank->region.current->facts & rank->team.keeps;
	rank->region_own.free = rank->region.current->free && !rank->region.kept;
	if (rank->region.free)
		return requested;
	keeps = rank->region.kept ? rank->team.own : rank->team.base;
	/* Where an if clause leaves one thread, the call may show no function. */
	if (!rank->region.kept && (requested != 1 || rank->team.base == 1))
		mal_prove_note_bound(where);
	if (requested != rank->team.size || rank->team.size == keeps)
		return requested;
	mal_team_set(rank, keeps);
	return rank->team.size;
}

__attribute__((noinline)) static void set_up(struct mal_rank *rank)
{
	mal_sizing_open(rank);
	rank->region_own.short_region = mal_s_to_ticks(SHORT_REGION_S);
	rank->region_own.settle = mal_s_to_ticks(SETTLE_S);
	rank->prepared_own.number = 1;
}

__attribute__((noinline)) static void set_up_saving_fp(struct mal_rank *rank)
{
	struct mal_fpstate saved = mal_fpstate_save();

	set_up(rank);
	mal_fpstate_restore(&saved);
}

void mal_region_begin(const void *where, unsigned int requested)
{
	uint64_t now = mal_ticks();

	if (!mal.sizing.look_every)
		set_up_saving_fp(&mal);
	if (!mal.region.current || mal.region.current->where != where)
		mal.region_own.current = mal_region_find(where);
	mal.region_own.weight = choose_weight(&mal, mal.region.current);
	if (mal_self.testing)
		mal_mpi_end_tests();
	if (mal_self.mpi_depth) {
		if (mal_self.declared) {
			mal_mpi_unwound();
			now = mal_ticks();
		}
		mal_mpi_look_back(__builtin_frame_address(0));
		mal_wait_helper_withdraw(&mal);
	}
	mal_count(&mal.slot->count.serial, now - mal.primary.last_leave);
	mal.region_own.widened = false;
	if (mal.proofs.on)
		requested = begin_proved(&mal, where, requested);
	mal.region_own.running = mal.team.size;
	if (!is_prepared(&mal, mal.region.current, requested))
		now = prepare_saving_fp(&mal, requested, now);
	mal.region_own.begin = now;
}

/*
 * A num_threads clause with the last team's size looks like none at first, and the runtime may give
 * fewer threads than it was asked for. Keep away from the size of such a region from now on.
 */
void mal_region_resized(struct mal_rank *rank, unsigned int size)
{
	struct mal_region *current = rank->region.current;

	rank->region_own.running = size;
	rank->region_own.widened = rank->region_own.sized = false;
	if (!mal_rule(rank, MAL_RULE_BIND))
		note_shared(rank);
	if (!mal_rule(rank, MAL_RULE_BIND) || !rank->cpus.owned_count)
		return;
	/* A free region has no clause but if: it may have more threads the next time. */
	current->clause = !((rank->region.free || rank->region.kept) && size == 1);
	current->prepared = 0;
	rank->region_own.oversubscribed = size > rank->cpus.owned_count + rank->cpus.borrowed_count;
	atomic_store_explicit(&rank->slot->team, size, memory_order_relaxed);
	mal_bind_team(rank, size);
	if (rank->region.oversubscribed && !rank->region.may_share_cpus &&
	    mal_rule(rank, MAL_RULE_LEND)) {
		rank->region_own.may_share_cpus = true;
		begin_sharing(rank, rank->region.begin);
	}
	record_preparation(rank);
}

static inline void add_run(struct mal_region *region, uint64_t duration, bool own)
{
	region->heat += duration;
	region->usual += (uint64_t)((int64_t)(duration - region->usual) / 8);
	mal_length_learn(&region->length, duration, own);
}

__attribute__((noinline)) static void learn_saving_fp(struct mal_rank *rank, uint64_t now)
{
	struct mal_fpstate saved = mal_fpstate_save();

	mal_sizing_learn(rank, rank->region.current, now);
	mal_fpstate_restore(&saved);
}

void mal_region_end(const void *where)
{
	uint64_t now = mal_ticks();
	uint64_t duration = now - mal.region.begin;

	mal_count(&mal.slot->count.region, duration);
	mal_count(&mal.slot->count.thread_ticks, duration * mal.region.running);
	mal_count(&mal.slot->count.regions, 1);
	if (mal.region.free) {
		mal.region_own.free_ticks += duration;
		mal_count(&mal.slot->count.free, 1);
	} else if (mal.region.kept) {
		mal_count(&mal.slot->count.kept, 1);
	}
	add_run(mal.region.current, duration, !mal_sizing_is_shared(&mal));
	if (!mal.region.weight && duration >= mal.region.short_region)
		mal_count(&mal.threads[0].busy, duration * mal.region.running);
	if (mal.region.may_share_cpus)
		mal_request_close(&mal.segment, mal.me);
	if (now - mal.sizing.last_look > mal.sizing.look_every)
		learn_saving_fp(&mal, now);
	mal.region_own.free = mal.region_own.kept = false;
	mal.region_own.oversubscribed = false;
	mal.region_own.may_share_cpus = false;
	mal_primary_left(&mal, now);
	mal_phase_region(where);
}

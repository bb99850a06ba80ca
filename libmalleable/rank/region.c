/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* region.c: before and after each outermost parallel region of the primary thread. */
#include "libmalleable/rank/region.h"

#include "libmalleable/base/kept.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/length.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/prove.h"
#include "libmalleable/rank/region_table.h"
#include "libmalleable/rank/sizing.h"
#include "libmalleable/rank/state/state.h"
#include "libmalleable/rank/team.h"
#include "libmalleable/rank/unseen_wait.h"
#include "libmalleable/rank/wait.h"

/* After leaving MPI borrow nothing for this long: the others are about to leave it too. */
#define SETTLE_S 200e-6
/*
 * In regions shorter than this threads are timed in one of TIMED_EVERY runs: reading the clock
 * takes as long as they do.
 */
#define SHORT_REGION_S 10e-6
#define TIMED_EVERY 8

/* The last region that began. */
static struct mal_region *current;

/*
 * Waiting threads must not occupy CPUs that they share or that their rank may soon lend. But where
 * the PROGRAM chose more threads than CPUs, they wait as they would without us: libomp's go on, as
 * it may run many nested regions, and libgomp's soon sleep.
 */
static enum mal_linger choose_linger(const struct mal_region *region, bool program)
{
	if (mal.stacked)
		return program && !mal.teams.for_gomp ? MAL_LINGER_USUAL : MAL_LINGER_NONE;
	if (!mal_sizing_may_share(region) ||
	    !atomic_load_explicit(&mal.segment.header->borrowers, memory_order_relaxed))
		return MAL_LINGER_USUAL;
	return MAL_LINGER_SHORT;
}

static bool stands(void)
{
	const struct mal_header *header = mal.segment.header;

	return atomic_load_explicit(&header->rules, memory_order_relaxed) == mal.standing.rules &&
	       atomic_load_explicit(&header->schedule, memory_order_relaxed) ==
		       mal.standing.schedule &&
	       atomic_load_explicit(&header->plan, memory_order_relaxed) == mal.standing.plan &&
	       atomic_load_explicit(&header->borrowers, memory_order_relaxed) ==
		       mal.standing.borrowers &&
	       atomic_load_explicit(&mal.slot->changes, memory_order_relaxed) ==
		       mal.standing.changes &&
	       atomic_load_explicit(&mal.reported, memory_order_relaxed) == mal.standing.reported &&
	       mal.team == mal.standing.team && !mal.plan_unfinished;
}

static void stand(void)
{
	const struct mal_header *header = mal.segment.header;

	mal.standing.number++;
	mal.standing.rules = atomic_load_explicit(&header->rules, memory_order_relaxed);
	mal.standing.schedule = atomic_load_explicit(&header->schedule, memory_order_relaxed);
	mal.standing.plan = mal.seen_plan;
	mal.standing.borrowers = atomic_load_explicit(&header->borrowers, memory_order_relaxed);
	mal.standing.changes = mal.seen_changes;
	mal.standing.reported = atomic_load_explicit(&mal.reported, memory_order_relaxed);
	mal.standing.team = mal.team;
}

/* Whether nothing has changed since REGION was prepared, and it needs nothing of its own. */
static bool is_prepared(const struct mal_region *region, unsigned int requested)
{
	return region->prepared == mal.standing.number && (!requested || requested == mal.team) &&
	       stands() &&
	       !atomic_load_explicit(&mal.segment.header->free_cpus, memory_order_relaxed);
}

/*
 * A region begins in which threads share CPUs, or use those of others. If it could use more, say
 * so, and when it is expected to end: lenders help the one that ends last.
 */
static void begin_sharing(uint64_t now)
{
	unsigned int cpus = mal.own_count + mal.borrowed_count;
	uint64_t length = (uint64_t)(current->work / cpus);

	atomic_store_explicit(&mal.slot->wants_cpus_since, now, memory_order_relaxed);
	atomic_store_explicit(&mal.slot->wants_cpus_count, cpus, memory_order_relaxed);
	if (!mal.stacked || !mal_rule(MAL_RULE_LEND))
		return;
	mal_cpus_want(true);
	atomic_store_explicit(&mal.slot->wants_cpus_until, now + length, memory_order_relaxed);
	mal_wants_cpus_say(&mal.segment, mal.me, true);
}

/*
 * Prepare a region in which threads may be bound: CPUs, team, places. Returns whether it took long.
 */
__attribute__((noinline)) static bool prepare(unsigned int requested, uint64_t now)
{
	bool clause = requested && (requested != mal.team || current->clause);
	unsigned int team = clause ? requested : mal.team;
	uint32_t seen = mal.seen_changes;
	bool changed, impatient;

	mal_team_look();
	if (!clause && mal_phase_has_plan() && mal_team_is_free())
		mal_phase_follow_plan();
	if (mal.borrowed_count && !mal_sizing_may_share(current))
		mal_cpus_release();
	mal_cpus_refresh();
	/* What follows a plan, and what releases, has refreshed too. */
	changed = mal.seen_changes != seen;
	if (changed && mal_team_is_free())
		mal_team_follow(mal_cpus_to_use(mal.own_count));
	if (!mal.own_count)
		return changed;
	if (mal_sizing_may_share(current) && now - mal.left_mpi > mal.region.settle &&
	    atomic_load_explicit(&mal.segment.header->free_cpus, memory_order_relaxed)) {
		unsigned int max =
			mal_team_may_differ() && !clause ? mal.segment.thread_count : team;
		unsigned int cpus = mal.own_count + mal.borrowed_count;

		if (max > cpus)
			mal_cpus_borrow(max - cpus);
	}
	if (!clause) {
		team = mal_team_bound(mal_team_may_differ() ? mal_sizing_team(current) : mal.base);
		mal_team_set(team);
		mal.widened = team > mal.base;
	}
	mal.running = team;
	mal.stacked = team > mal.own_count + mal.borrowed_count;
	mal.sized = !clause && mal_team_may_differ();
	mal.shares = mal.stacked || mal.borrowed_count;
	impatient = mal_team_set_linger(choose_linger(
		current, clause || (team == mal.base && !mal.reported_more && !mal.proofs.raised &&
				    !(mal.proofs.on && mal_team_may_differ()))));
	atomic_store_explicit(&mal.slot->team, team, memory_order_relaxed);
	changed |= mal_bind_team(team);
	if (changed || impatient || clause || mal.shares || !stands())
		stand();
	if (!clause && !mal.shares)
		current->prepared = mal.standing.number;
	current->prepared_to_share = mal_sizing_may_share(current);
	mal_team_set_schedule(
		atomic_load_explicit(&mal.segment.header->schedule, memory_order_relaxed));
	if (mal.shares)
		begin_sharing(now);
	return changed;
}

/* The program's own threads may share CPUs: then CPU time tells what they worked. */
static void note_shared(void)
{
	mal.shares = mal.own_count && mal.running > mal.own_count;
}

/* Returns the tick at which the region begins. */
__attribute__((noinline)) static uint64_t prepare_unseen(unsigned int requested, uint64_t now)
{
	struct mal_kept kept;
	bool changed;

	if (!mal_rule(MAL_RULE_BIND)) {
		note_shared();
		return now;
	}
	kept = mal_keep();
	changed = prepare(requested, now);
	mal_give_back(&kept);
	if (changed) {
		uint64_t ready = mal_ticks();

		mal_count(&mal.slot->count.own, ready - now);
		now = ready;
	}
	return now;
}

/*
 * See mal_rank.weight. Counted for each code address, so that no sequence of regions can hide one.
 */
static unsigned int choose_weight(struct mal_region *region)
{
	if (!region->usual || region->usual >= mal.short_region)
		return 1;
	return region->runs++ % TIMED_EVERY ? 0 : TIMED_EVERY;
}

/*
 * Regions were classified: a bound one has the team that the program knows of, whatever rules.
 * Returns how many threads are requested then.
 */
static unsigned int begin_proved(const void *where, unsigned int requested)
{
	mal.proofs.free = current->free;
	if (mal.proofs.free)
		return requested;
	/* Where an if clause leaves one thread, the call may show no function. */
	if (requested != 1 || mal.base == 1)
		mal_prove_say_bound(where);
	if (requested != mal.team || mal.team == mal.base)
		return requested;
	mal_team_set(mal.base);
	return mal.team;
}

__attribute__((noinline)) static void set_up(void)
{
	mal_sizing_open();
	mal.short_region = mal_s_to_ticks(SHORT_REGION_S);
	mal.region.settle = mal_s_to_ticks(SETTLE_S);
	mal.standing.number = 1;
}

__attribute__((noinline)) static void set_up_unseen(void)
{
	struct mal_kept kept = mal_keep();

	set_up();
	mal_give_back(&kept);
}

void mal_region_begin(const void *where, unsigned int requested)
{
	uint64_t now = mal_ticks();

	if (!mal.region.look_every)
		set_up_unseen();
	if (!current || current->where != where)
		current = mal_region_find(where);
	mal.weight = choose_weight(current);
	if (mal_self.testing)
		mal_mpi_end_tests();
	if (mal_self.mpi_depth) {
		mal_mpi_look_back(__builtin_frame_address(0));
		mal_unseen_withdraw();
	}
	mal_count(&mal.slot->count.serial, now - mal.last_leave);
	mal.widened = false;
	if (mal.proofs.on)
		requested = begin_proved(where, requested);
	mal.running = mal.team;
	if (!is_prepared(current, requested))
		now = prepare_unseen(requested, now);
	mal.region_begin = now;
}

/*
 * A num_threads clause with the last team's size looks like none at first, and the runtime may give
 * fewer threads than it was asked for. Keep away from the size of such a region from now on.
 */
void mal_region_resized(unsigned int size)
{
	mal.running = size;
	mal.widened = mal.sized = false;
	if (!mal_rule(MAL_RULE_BIND))
		note_shared();
	if (!mal_rule(MAL_RULE_BIND) || !mal.own_count)
		return;
	/* A free region has no clause but if: it may have more threads the next time. */
	current->clause = !(mal.proofs.free && size == 1);
	current->prepared = 0;
	mal.stacked = size > mal.own_count + mal.borrowed_count;
	atomic_store_explicit(&mal.slot->team, size, memory_order_relaxed);
	mal_bind_team(size);
	if (mal.stacked && !mal.shares && mal_rule(MAL_RULE_LEND)) {
		mal.shares = true;
		begin_sharing(mal.region_begin);
	}
	stand();
}

__attribute__((noinline)) static void learn_unseen(struct mal_region *region, uint64_t now)
{
	struct mal_kept kept = mal_keep();

	mal_sizing_learn(region, now);
	mal_give_back(&kept);
}

void mal_region_end(const void *where)
{
	uint64_t now = mal_ticks();
	uint64_t duration = now - mal.region_begin;

	mal_count(&mal.slot->count.region, duration);
	mal_count(&mal.slot->count.thread_ticks, duration * mal.running);
	mal_count(&mal.slot->count.regions, 1);
	if (mal.proofs.free) {
		mal.proofs.free_ticks += duration;
		mal_count(&mal.slot->count.free, 1);
	}
	current->heat += duration;
	current->usual += (uint64_t)((int64_t)(duration - current->usual) / 8);
	mal_length_learn(&current->length, duration, !mal_sizing_is_shared());
	if (!mal.weight && duration >= mal.short_region)
		mal_count(&mal.threads[0].busy, duration * mal.running);
	if (mal.shares)
		mal_wants_cpus_close(&mal.segment, mal.me);
	if (now - mal.region.last_look > mal.region.look_every)
		learn_unseen(current, now);
	mal.proofs.free = false;
	mal.stacked = false;
	mal.shares = false;
	mal.last_leave = now;
	mal_phase_region(where);
}

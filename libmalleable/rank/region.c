/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region.c: before and after each outermost parallel region of the primary thread.
 *
 * A region is identified by its code address. Two things are learnt from past runs: how long it
 * takes, and for which part of that time other ranks waited. A long region in which others waited
 * long is opened with more threads than CPUs, so that a lender can send some of them to its own CPU
 * while the region runs.
 */
#include "libmalleable/rank/region.h"

#include "libmalleable/base/kept.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/linger.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/prove.h"
#include "libmalleable/rank/region_table.h"
#include "libmalleable/rank/state/state.h"
#include "libmalleable/rank/team.h"
#include "libmalleable/rank/wait.h"

/* Shorter regions get no extra threads: sharing a CPU costs 17 % at 1 ms, 1.6 % at 10 ms. */
#define GROW_REGION_S 2e-3
/*
 * A rank that gave CPUs away opens regions of this length with as many threads as it had CPUs: if
 * its load comes back at once, others can help while the region runs. (Two threads on a CPU cost
 * 0.3 % there.)
 */
#define INSURE_REGION_S 40e-3
/* Part of a region's time for which others must have waited. */
#define GROW_OFFER 0.08
/* From this part on add threads for few CPUs too, though they share unevenly until these come. */
#define GROW_SURE 0.5
/*
 * A region that takes this many times as long with shared CPUs is harmed by them: its threads spin
 * for each other.
 */
#define GROW_HARM 1.5
/*
 * Try shared CPUs again after this many runs, as the machine may just have been busy; after the
 * second time eight times as many; after the third never.
 */
#define HARM_REST 32
#define HARMS_MAX 3
/* How often to look for how long other ranks waited. */
#define LOOK_EVERY_S 1e-3
/* Stop asking for CPUs after this many looks at which nobody waited. */
#define LOOKS_WITHOUT 100
/* After leaving MPI borrow nothing for this long: the others are about to leave it too. */
#define SETTLE_S 200e-6
/*
 * In regions shorter than this threads are timed in one of TIMED_EVERY runs: reading the clock
 * takes as long as they do.
 */
#define SHORT_REGION_S 10e-6
#define TIMED_EVERY 8

static struct mal_region *current;

/* Whether the region is long enough for threads to share CPUs. */
static bool is_long(const struct mal_region *region)
{
	return region->work >= (double)mal.region.grow_region * mal.own_count;
}

/*
 * Team size of a long region in a rank with fewer CPUs than at home: the same number on each CPU.
 */
static unsigned int insured_team(const struct mal_region *region)
{
	unsigned int home;

	if (region->work < (double)mal.region.insure_region * mal.own_count)
		return mal.own_count;
	home = mal_cpumask_count(&mal.home);
	if (mal.own_count >= home)
		return mal.own_count;
	return (home + mal.own_count - 1) / mal.own_count * mal.own_count;
}

/* Team size of the region: one thread per CPU, or more if CPUs may come while it runs. */
static unsigned int choose_team(const struct mal_region *region)
{
	unsigned int cpus = mal_cpus_to_use(mal.own_count + mal.borrowed_count);
	unsigned int team;

	/* Others are about to hand us CPUs: they send a thread to each. */
	if (mal.planned > cpus && mal.planned <= mal.segment.thread_count &&
	    !(region && region->harmed))
		return mal.planned;
	if (!mal_rule(MAL_RULE_GROW) || !region || region->harmed || region->suspect > 0)
		return cpus;
	if (!is_long(region))
		return cpus;
	if (region->offer >= GROW_OFFER && region->offered_cpus >= mal.own_count)
		team = 2 * mal.own_count;
	else if (region->offer >= GROW_SURE)
		team = mal.own_count + region->offered_cpus;
	else
		team = insured_team(region);
	if (team > mal.segment.thread_count)
		team = cpus;
	return team > cpus ? team : cpus;
}

/*
 * Waiting threads must not occupy CPUs that they share or that their rank may soon lend. But where
 * the PROGRAM chose more threads than CPUs, they wait as they would without us: it may run many
 * nested regions.
 */
static enum mal_linger choose_linger(const struct mal_region *region, bool program)
{
	if (mal.stacked)
		return program ? MAL_LINGER_USUAL : MAL_LINGER_NONE;
	if (!atomic_load_explicit(&mal.segment.header->borrowers, memory_order_relaxed) ||
	    !mal_linger_may_sleep())
		return MAL_LINGER_USUAL;
	if (region && is_long(region))
		return MAL_LINGER_NONE;
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
	return region && region->prepared == mal.standing.number &&
	       (!requested || requested == mal.team) && stands() &&
	       !atomic_load_explicit(&mal.segment.header->free_cpus, memory_order_relaxed);
}

/*
 * Say that the region could use more CPUs, and when it is expected to end: lenders help the one
 * that ends last.
 */
static void say_wants_cpus(uint64_t now)
{
	unsigned int cpus = mal.own_count + mal.borrowed_count;
	uint64_t length = current ? (uint64_t)(current->work / cpus) : 0;

	mal_cpus_want(true);
	atomic_store_explicit(&mal.slot->wants_cpus_since, now, memory_order_relaxed);
	atomic_store_explicit(&mal.slot->wants_cpus_until, now + length, memory_order_relaxed);
	atomic_store_explicit(&mal.slot->wants_cpus_count, cpus, memory_order_relaxed);
	mal_wants_cpus_say(&mal.segment, mal.me, true);
}

/*
 * Prepare a region in which threads may be bound: CPUs, team, places. Returns whether it took long.
 */
__attribute__((noinline)) static bool prepare(unsigned int requested, uint64_t now)
{
	bool clause = requested && (requested != mal.team || (current && current->clause));
	unsigned int team = clause ? requested : mal.team;
	bool changed, impatient;

	mal_team_look();
	if (!clause && mal_phase_has_plan() && mal_team_is_free())
		mal_phase_follow_plan();
	changed = mal_cpus_refresh();
	if (changed && mal_team_is_free())
		mal_team_follow(mal_cpus_to_use(mal.own_count));
	if (!mal.own_count)
		return changed;
	if (mal_rule(MAL_RULE_LEND) && now - mal.left_mpi > mal.region.settle &&
	    atomic_load_explicit(&mal.segment.header->free_cpus, memory_order_relaxed)) {
		unsigned int max =
			mal_team_may_differ() && !clause ? mal.segment.thread_count : team;
		unsigned int cpus = mal.own_count + mal.borrowed_count;

		if (max > cpus)
			mal_cpus_borrow(max - cpus);
	}
	if (!clause) {
		team = mal_team_bound(mal_team_may_differ() ? choose_team(current) : mal.base);
		mal_team_set(team);
		mal.widened = team > mal.base;
	}
	mal.running = team;
	mal.stacked = team > mal.own_count + mal.borrowed_count;
	mal.shares = mal.stacked || mal.borrowed_count;
	impatient = mal_team_set_linger(choose_linger(
		current, clause || (team == mal.base && !mal.reported_more && !mal.proofs.raised &&
				    !(mal.proofs.on && mal_team_may_differ()))));
	atomic_store_explicit(&mal.slot->team, team, memory_order_relaxed);
	changed |= mal_bind_team(team);
	if (changed || impatient || clause || mal.shares || !stands())
		stand();
	if (current && !clause && !mal.shares)
		current->prepared = mal.standing.number;
	mal_team_set_schedule(
		atomic_load_explicit(&mal.segment.header->schedule, memory_order_relaxed));
	if (mal.stacked && mal_rule(MAL_RULE_LEND))
		say_wants_cpus(now);
	else if (mal.shares)
		atomic_store_explicit(&mal.slot->wants_cpus_since, now, memory_order_relaxed);
	return changed;
}

__attribute__((noinline)) static bool prepare_unseen(unsigned int requested, uint64_t now)
{
	struct mal_kept kept = mal_keep();
	bool changed = prepare(requested, now);

	mal_give_back(&kept);
	return changed;
}

/*
 * See mal_rank.weight. Counted for each code address, so that no sequence of regions can hide one.
 */
static unsigned int choose_weight(struct mal_region *region)
{
	if (!region || !region->usual || region->usual >= mal.short_region)
		return 1;
	return region->runs++ % TIMED_EVERY ? 0 : TIMED_EVERY;
}

/*
 * Regions were classified: a bound one has the team that the program knows of, whatever rules.
 * Returns how many threads are requested then.
 */
static unsigned int begin_proved(const void *where, unsigned int requested)
{
	mal.proofs.free = current ? current->free : mal_prove_region(where).free;
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
	mal.region.look_every = mal_s_to_ticks(LOOK_EVERY_S);
	mal.region.grow_region = mal_s_to_ticks(GROW_REGION_S);
	mal.region.insure_region = mal_s_to_ticks(INSURE_REGION_S);
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
	if (mal_self.mpi_depth)
		mal_mpi_look_back(__builtin_frame_address(0));
	mal_count(&mal.slot->count.serial, now - mal.last_leave);
	mal.widened = false;
	if (mal.proofs.on)
		requested = begin_proved(where, requested);
	mal.running = mal.team;
	if (!is_prepared(current, requested) && mal_rule(MAL_RULE_BIND) &&
	    prepare_unseen(requested, now)) {
		uint64_t ready = mal_ticks();

		mal_count(&mal.slot->count.own, ready - now);
		now = ready;
	}
	mal.region_begin = now;
}

/*
 * A num_threads clause with the last team's size looks like none at first, and the runtime may give
 * fewer threads than it was asked for. Keep away from the size of such a region from now on.
 */
void mal_region_resized(unsigned int size)
{
	mal.running = size;
	mal.widened = false;
	if (!mal_rule(MAL_RULE_BIND) || !mal.own_count)
		return;
	if (current) {
		/* A free region has no clause but if: it may have more threads the next time. */
		current->clause = !(mal.proofs.free && size == 1);
		current->prepared = 0;
	}
	mal.stacked = size > mal.own_count + mal.borrowed_count;
	atomic_store_explicit(&mal.slot->team, size, memory_order_relaxed);
	mal_bind_team(size);
	if (mal.stacked && !mal.shares && mal_rule(MAL_RULE_LEND)) {
		mal.shares = true;
		say_wants_cpus(mal.region_begin);
	}
	stand();
}

/*
 * For how long of the region the longest waiting rank waited, and how many CPUs the waiting ranks
 * own.
 */
static uint64_t measure_offer(uint64_t begin, uint64_t end, unsigned int *cpus)
{
	bool waits[MAL_MAX_RANKS] = {false};
	uint64_t longest = 0;
	bool any = false;

	*cpus = 0;
	for (unsigned int rank = 0; rank < mal.segment.rank_count; rank++) {
		const struct mal_rank_slot *slot = &mal.segment.ranks[rank];
		uint64_t since = atomic_load_explicit(&slot->waiting_since, memory_order_relaxed);

		if (rank == mal.me || !since || since >= end)
			continue;
		if (end - (since > begin ? since : begin) > longest)
			longest = end - (since > begin ? since : begin);
		waits[rank] = true;
		any = true;
	}
	for (unsigned int cpu = 0; any && cpu < mal.segment.cpu_count; cpu++) {
		unsigned int owner = mal_word_read(&mal.segment.cpus[cpu].word).owner;

		*cpus += owner < mal.segment.rank_count && waits[owner];
	}
	return longest;
}

/* Learn from the region that ended. */
__attribute__((noinline)) static void learn(struct mal_region *region, uint64_t now)
{
	double duration = (double)(now - mal.region_begin);
	unsigned int cpus;
	double work, offer;
	bool was_long;

	/* A coarse clock has not gone on since: there is nothing to divide by. */
	if (now <= mal.region_begin)
		return;
	mal.region.last_look = now;
	offer = (double)measure_offer(mal.region_begin, now, &cpus) / duration;
	if (offer > GROW_OFFER) {
		mal_cpus_want(true);
		mal.region.looks_without = 0;
	} else if (++mal.region.looks_without > LOOKS_WITHOUT) {
		mal_cpus_want(false);
	}
	if (!region)
		return;
	was_long = is_long(region);
	work = duration * (mal.own_count + mal.borrowed_count);
	if (mal.stacked && offer < GROW_OFFER && region->work > 0 &&
	    work > GROW_HARM * region->work) {
		region->suspect = work;
	} else if (!mal.stacked && region->suspect > 0) {
		/* Or was there just more work? */
		region->harmed = region->suspect > GROW_HARM * work;
		region->suspect = 0;
		if (region->harmed)
			region->rest = HARM_REST << 3 * region->harms++;
	} else if (region->harmed && region->harms < HARMS_MAX && --region->rest == 0) {
		region->harmed = false;
	}
	if (!mal.stacked)
		region->work = region->work > 0 ? (region->work + work) / 2 : work;
	if (!mal.shares &&
	    mal_linger_learn(&region->costs, work, mal.teams.linger != MAL_LINGER_USUAL))
		stand();
	region->offer = (region->offer + offer) / 2;
	if (offer > GROW_OFFER)
		region->offered_cpus = cpus;
	if (was_long || is_long(region))
		region->prepared = 0;
}

__attribute__((noinline)) static void learn_unseen(struct mal_region *region, uint64_t now)
{
	struct mal_kept kept = mal_keep();

	learn(region, now);
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
	mal.proofs.free = false;
	if (current) {
		current->heat += duration;
		current->usual += (uint64_t)((int64_t)(duration - current->usual) / 8);
	}
	if (!mal.weight && duration >= mal.short_region)
		mal_count(&mal.threads[0].busy, duration * mal.running);
	if (mal.shares)
		mal_wants_cpus_close(&mal.segment, mal.me);
	if (now - mal.region.last_look > mal.region.look_every && mal_rule(MAL_RULE_LEND))
		learn_unseen(current, now);
	mal.stacked = false;
	mal.shares = false;
	mal.last_leave = now;
	mal_phase_region(where);
}

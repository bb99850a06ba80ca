/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region.c: before and after each outermost parallel region of the primary thread.
 *
 * A region is known by its code address. What matters of its past: how long it takes, and for which part of that time
 * other ranks waited. Where they did for a good part of a long region, the next one is opened with more threads
 * than CPUs, so that a lender can send some of them to its own CPU in the middle of it.
 */
#include "libmalleable/rank/region.h"

#include "libmalleable/rank/bind.h"
#include "libmalleable/rank/cpus.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/state.h"
#include "libmalleable/rank/team.h"
#include "libmalleable/rank/wait.h"

/* Shorter regions are not opened wider: the price of sharing a CPU (17 % at 1 ms, 1.6 % at 10 ms) is too high. */
#define GROW_REGION_S 2e-3
/*
 * A rank that gave CPUs away opens regions of this length for as many CPUs as it had: should its load come back at once,
 * others can help in the middle of the region. (Two threads on a CPU cost 0.3 % there.)
 */
#define INSURE_REGION_S 40e-3
/* The part of a region's time in which others must have waited. */
#define GROW_OFFER 0.08
/* And the part from which on there are threads for a few CPUs only, though they share unevenly until these come. */
#define GROW_SURE 0.5
/* A region that takes this much longer with shared CPUs does not survive it (threads that spin for each other). */
#define GROW_HARM 1.5
/*
 * It is tried again after so many runs, the machine may have been busy otherwise; eight times as many after the second time; and
 * never after the third.
 */
#define HARM_REST 32
#define HARMS_MOST 3
/* How often the other ranks' waiting is looked at. */
#define LOOK_EVERY_S 1e-3
/* After so many looks at which nobody waited this rank no longer asks for CPUs. */
#define LOOKS_WITHOUT 100
/* Who has just left MPI finds others about to leave it too: their CPUs are not worth borrowing. */
#define SETTLE_S 200e-6
/* In regions shorter than this the threads are timed in one of TIMED_EVERY runs: the clock would cost as much as they do. */
#define SHORT_REGION_S 10e-6
#define TIMED_EVERY 8
#define REGION_SLOTS 256

struct region {
	const void *where;
	uint64_t usual; /* ticks, moving average */
	unsigned int runs;
	uint32_t prepared; /* standing.number when it was last prepared and needed nothing of its own */
	double work;	   /* ticks times CPUs, moving average over runs with one thread a CPU */
	double offer;	   /* moving average of the part of it in which others waited */
	unsigned int offered_cpus;
	double suspect; /* what a run with shared CPUs cost when it cost too much, to be compared with one without */
	unsigned int harms; /* how often that was so */
	unsigned int rest;  /* runs until shared CPUs are tried again */
	bool harmed;	    /* they are not tried now */
};

static struct region table[REGION_SLOTS];
static struct region *current;
static uint64_t last_look;
static unsigned int looks_without; /* since others last waited for us */
static struct {
	uint64_t look_every;
	uint64_t grow_region;
	uint64_t insure_region;
	uint64_t settle;
} limit;

/*
 * What regions were last prepared for: as long as it stands there is nothing to prepare again. NUMBER changes with it, and
 * after regions that others cannot follow unprepared.
 */
static struct {
	uint32_t number;
	uint32_t rules, schedule, plan, changes, borrowers, told;
	unsigned int team;
} standing = {.number = 1};

static struct region *find(const void *where)
{
	uintptr_t hash = (uintptr_t)where * UINT64_C(0x9e3779b97f4a7c15);

	for (unsigned int i = 0; i < 8; i++) {
		struct region *entry = &table[((hash >> 48) + i) % REGION_SLOTS];

		if (entry->where == where)
			return entry;
		if (!entry->where) {
			entry->where = where;
			return entry;
		}
	}
	return NULL;
}

/* Long enough that threads may share CPUs in it. */
static bool is_long(const struct region *region)
{
	return region->work >= (double)limit.grow_region * mal.own_count;
}

/* The number of threads for which a rank with fewer CPUs than at home opens a long region: the same on each CPU. */
static unsigned int insured_team(const struct region *region)
{
	unsigned int home;

	if (region->work < (double)limit.insure_region * mal.own_count)
		return mal.own_count;
	home = mal_cpumask_count(&mal.home);
	if (mal.own_count >= home)
		return mal.own_count;
	return (home + mal.own_count - 1) / mal.own_count * mal.own_count;
}

/* How many threads the region gets: one a CPU, or more if it is likely to grow inside. */
static unsigned int choose_team(const struct region *region)
{
	unsigned int cpus = mal_cpus_to_use(mal.own_count + mal.borrowed_count);
	unsigned int team = cpus;

	/* CPUs that others are about to give us: they send a thread to each. */
	if (mal.planned > cpus && mal.planned <= mal.segment.thread_count && !(region && region->harmed))
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
 * Waiting threads must not keep CPUs busy that they share or that their rank may lend in a moment. But where the PROGRAM chose
 * to have more threads than CPUs, they wait as they would without us: nested regions can be many.
 */
static enum mal_patience choose_patience(const struct region *region, bool program)
{
	if (mal.stacked)
		return program ? MAL_PATIENCE_USUAL : MAL_PATIENCE_NONE;
	if (!atomic_load_explicit(&mal.segment.header->borrowers, memory_order_relaxed))
		return MAL_PATIENCE_USUAL;
	if (region && is_long(region))
		return MAL_PATIENCE_NONE;
	return MAL_PATIENCE_SHORT;
}

static bool stands(void)
{
	const struct mal_header *header = mal.segment.header;

	return atomic_load_explicit(&header->rules, memory_order_relaxed) == standing.rules &&
	       atomic_load_explicit(&header->schedule, memory_order_relaxed) == standing.schedule &&
	       atomic_load_explicit(&header->plan, memory_order_relaxed) == standing.plan &&
	       atomic_load_explicit(&header->borrowers, memory_order_relaxed) == standing.borrowers &&
	       atomic_load_explicit(&mal.slot->changes, memory_order_relaxed) == standing.changes &&
	       atomic_load_explicit(&mal.told, memory_order_relaxed) == standing.told && mal.team == standing.team &&
	       !mal.plan_unfinished;
}

static void stand(void)
{
	const struct mal_header *header = mal.segment.header;

	standing.number++;
	standing.rules = atomic_load_explicit(&header->rules, memory_order_relaxed);
	standing.schedule = atomic_load_explicit(&header->schedule, memory_order_relaxed);
	standing.plan = mal.seen_plan;
	standing.borrowers = atomic_load_explicit(&header->borrowers, memory_order_relaxed);
	standing.changes = mal.seen_changes;
	standing.told = atomic_load_explicit(&mal.told, memory_order_relaxed);
	standing.team = mal.team;
}

/* Nothing has changed since REGION was prepared, and it needs nothing of its own. */
static bool is_prepared(const struct region *region, unsigned int requested)
{
	return region && region->prepared == standing.number && (!requested || requested == mal.team) && stands() &&
	       !atomic_load_explicit(&mal.segment.header->free_cpus, memory_order_relaxed);
}

/* The region could use more CPUs: until when, going by its past, is for the lenders to know. */
static void say_hungry(uint64_t now)
{
	unsigned int cpus = mal.own_count + mal.borrowed_count;
	uint64_t length = current ? (uint64_t)(current->work / cpus) : 0;

	mal_cpus_want(true);
	atomic_store_explicit(&mal.slot->hungry_since, now, memory_order_relaxed);
	atomic_store_explicit(&mal.slot->hungry_until, now + length, memory_order_relaxed);
	atomic_store_explicit(&mal.slot->hungry_cpus, cpus, memory_order_relaxed);
	mal_hungry_say(&mal.segment, mal.me, true);
}

/* What a region needs before it starts, where threads may be bound at all: CPUs, a team, places. Returns whether it took long. */
static bool prepare(unsigned int requested, uint64_t now)
{
	bool clause = requested && requested != mal.team;
	unsigned int team = clause ? requested : mal.team;
	bool changed, impatient;

	if (!clause && mal_team_is_free())
		mal_phase_follow_plan();
	changed = mal_cpus_refresh();
	if (changed && mal_team_is_free())
		mal_team_follow(mal_cpus_to_use(mal.own_count));
	if (!mal.own_count)
		return changed;
	if (mal_rule(MAL_RULE_LEND) && now - mal.left_mpi > limit.settle &&
	    atomic_load_explicit(&mal.segment.header->free_cpus, memory_order_relaxed)) {
		unsigned int most = mal_team_is_free() && !clause ? mal.segment.thread_count : team;
		unsigned int cpus = mal.own_count + mal.borrowed_count;

		if (most > cpus)
			mal_cpus_borrow(most - cpus);
	}
	if (!clause) {
		team = mal_team_is_free() ? choose_team(current) : mal.base;
		mal_team_set(team);
	}
	mal.stacked = team > mal.own_count + mal.borrowed_count;
	mal.shares = mal.stacked || mal.borrowed_count;
	impatient = mal_team_set_patience(choose_patience(current, clause || (team == mal.base && !mal.told_more)));
	atomic_store_explicit(&mal.slot->team, team, memory_order_relaxed);
	changed |= mal_bind_team(team);
	if (changed || impatient || clause || mal.shares || !stands())
		stand();
	if (current && !clause && !mal.shares)
		current->prepared = standing.number;
	mal_team_set_schedule(atomic_load_explicit(&mal.segment.header->schedule, memory_order_relaxed));
	if (mal.stacked && mal_rule(MAL_RULE_LEND))
		say_hungry(now);
	return changed;
}

/* See mal_rank. A region of its own counts for each code address: no sequence of regions can hide one. */
static unsigned int choose_weight(struct region *region)
{
	if (!region || !region->usual || region->usual >= mal.short_region)
		return 1;
	return region->runs++ % TIMED_EVERY ? 0 : TIMED_EVERY;
}

void mal_region_begin(const void *where, unsigned int requested)
{
	uint64_t now = mal_ticks();

	if (!limit.look_every) {
		limit.look_every = mal_s_to_ticks(LOOK_EVERY_S);
		limit.grow_region = mal_s_to_ticks(GROW_REGION_S);
		limit.insure_region = mal_s_to_ticks(INSURE_REGION_S);
		mal.short_region = mal_s_to_ticks(SHORT_REGION_S);
		limit.settle = mal_s_to_ticks(SETTLE_S);
	}
	if (!current || current->where != where)
		current = find(where);
	mal.weight = choose_weight(current);
	if (mal_self.testing)
		mal_mpi_end_tests();
	mal_count(&mal.slot->count.serial, now - mal.last_leave);
	if (!is_prepared(current, requested) && mal_rule(MAL_RULE_BIND) && prepare(requested, now)) {
		uint64_t ready = mal_ticks();

		mal_count(&mal.slot->count.own, ready - now);
		now = ready;
	}
	mal.running = mal.team;
	mal.region_begin = now;
}

/* For how much of the region's time the longest waiting rank waited, and how many CPUs the waiting ones own. */
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
static void learn(struct region *region, uint64_t now)
{
	double duration = (double)(now - mal.region_begin);
	unsigned int cpus;
	double work;
	double offer = (double)measure_offer(mal.region_begin, now, &cpus) / duration;
	bool was_long;

	last_look = now;
	if (offer > GROW_OFFER) {
		mal_cpus_want(true);
		looks_without = 0;
	} else if (++looks_without > LOOKS_WITHOUT) {
		mal_cpus_want(false);
	}
	if (!region)
		return;
	was_long = is_long(region);
	work = duration * (mal.own_count + mal.borrowed_count);
	if (mal.stacked && offer < GROW_OFFER && region->work > 0 && work > GROW_HARM * region->work) {
		region->suspect = work;
	} else if (!mal.stacked && region->suspect > 0) {
		/* Or was there just more to do? */
		region->harmed = region->suspect > GROW_HARM * work;
		region->suspect = 0;
		if (region->harmed)
			region->rest = HARM_REST << 3 * region->harms++;
	} else if (region->harmed && region->harms < HARMS_MOST && --region->rest == 0) {
		region->harmed = false;
	}
	if (!mal.stacked)
		region->work = region->work > 0 ? (region->work + work) / 2 : work;
	region->offer = (region->offer + offer) / 2;
	if (offer > GROW_OFFER)
		region->offered_cpus = cpus;
	if (was_long || is_long(region))
		region->prepared = 0;
}

void mal_region_end(const void *where)
{
	uint64_t now = mal_ticks();
	uint64_t duration = now - mal.region_begin;

	mal_count(&mal.slot->count.region, duration);
	mal_count(&mal.slot->count.thread_ticks, duration * mal.running);
	mal_count(&mal.slot->count.regions, 1);
	if (current)
		current->usual += (uint64_t)((int64_t)(duration - current->usual) / 8);
	if (!mal.weight && duration >= mal.short_region)
		mal_count(&mal.threads[0].busy, duration * mal.running);
	if (mal.shares)
		mal_hungry_say(&mal.segment, mal.me, false);
	if (now - last_look > limit.look_every && mal_rule(MAL_RULE_LEND))
		learn(current, now);
	mal.stacked = false;
	mal.shares = false;
	mal.last_leave = now;
	mal_phase_region(where);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sizing.c: how many threads a region gets, by what its past runs took.
 *
 * Two things are learnt from these: how long the region takes, and for which part of that time
 * other ranks waited. A long region in which others waited long is opened with more threads than
 * CPUs, so that a lender can send some of them to its own CPU while the region runs.
 */
#include "libmalleable/rank/sizing.h"

#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/length.h"
#include "libmalleable/rank/state/state.h"
#include "libmalleable/rank/team.h"

/* Shorter regions neither borrow nor lend: a wake-up takes too large a part of them. */
#define SHARE_REGION_S 300e-6
/* Shorter regions get no extra threads: sharing a CPU costs 17 % at 1 ms, 1.6 % at 10 ms. */
#define GROW_REGION_S 2e-3
/* A long region may be as many times as long as it typically is: its runs may differ in size. */
#define TYPICAL_PART 8
/* Part of a region's time for which others must have waited. */
#define GROW_OFFER 0.08
/* From this part on add threads for few CPUs too, though they share unevenly until these come. */
#define GROW_SURE 0.5
/* The first run is alone, and measures the region, then one after so many shared ones. */
#define SHARED_RUNS 64u
/* How often to look for how long other ranks waited. */
#define LOOK_EVERY_S 1e-3
/* Stop asking for CPUs after this many looks at which nobody waited. */
#define LOOKS_WITHOUT 100

void mal_sizing_open(void)
{
	mal.region.look_every = mal_s_to_ticks(LOOK_EVERY_S);
	mal.region.share_region = mal_s_to_ticks(SHARE_REGION_S);
	mal.region.grow_region = mal_s_to_ticks(GROW_REGION_S);
	mal_length_open(mal.region.share_region);
}

/*
 * Whether the region is long enough for threads to share CPUs. One that the system interrupted
 * seems to, but typically takes far less.
 */
static bool is_long(const struct mal_region *region)
{
	uint64_t ticks = mal.region.grow_region;

	return region->work >= (double)ticks * mal.own_count &&
	       region->length.typical >= ticks / TYPICAL_PART;
}

bool mal_sizing_may_share(const struct mal_region *region)
{
	return mal_rule(&mal, MAL_RULE_LEND) && region->length.lasts && region->left;
}

/* Team size of the region: one thread per CPU, or more if CPUs may come while it runs. */
unsigned int mal_sizing_team(const struct mal_region *region)
{
	unsigned int cpus = mal_cpus_to_use(&mal, mal.own_count + mal.borrowed_count);
	unsigned int team = cpus;

	/* Others are about to hand us CPUs: they send a thread to each. */
	if (mal.planned > cpus && mal.planned <= mal.segment.thread_count)
		return mal.planned;
	if (!mal_rule(&mal, MAL_RULE_GROW) || !is_long(region) || !mal_sizing_may_share(region) ||
	    region->offer < GROW_OFFER)
		return cpus;
	if (region->offered_cpus >= mal.own_count)
		team = 2 * mal.own_count;
	else if (region->offer >= GROW_SURE)
		team = mal.own_count + region->offered_cpus;
	return team > cpus && team <= mal.segment.thread_count ? team : cpus;
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

/* Whether the region that ended could have used more CPUs than the rank's. */
static bool can_borrow(void)
{
	return mal.running > mal.own_count || mal_team_may_differ(&mal);
}

/* How many CPUs lenders granted while the region ran; they may have taken them back since. */
static unsigned int count_granted(void)
{
	unsigned int began = mal.own_count + mal.borrowed_count, had;

	if (!mal.shares)
		return 0;
	had = atomic_load_explicit(&mal.slot->wants_cpus_count, memory_order_relaxed);
	/* Others write it. */
	had = had < mal.running ? had : mal.running;
	return had > began ? had - began : 0;
}

/*
 * A run took WORK. On shared CPUs, or with those of others, it may take longer than alone. One that
 * took far less shows that what is believed is wrong.
 */
static void learn_work(struct mal_region *region, double work)
{
	if (region->work <= 0 || work < region->work / 4)
		region->work = work;
	else if (work < region->work || !mal_sizing_is_shared(&mal))
		region->work = (region->work + work) / 2;
}

/* Ranks that wait lend, at a cost, as soon as one could borrow. */
static void ask_for_cpus(const struct mal_region *region, double offer)
{
	if (offer > GROW_OFFER && can_borrow() && (mal.stacked || mal_sizing_may_share(region))) {
		mal_cpus_want(&mal, true);
		mal.region.looks_without = 0;
	} else if (++mal.region.looks_without > LOOKS_WITHOUT) {
		mal_cpus_want(&mal, false);
	}
}

/* Learn from the region that ended. */
__attribute__((noinline)) void mal_sizing_learn(struct mal_region *region, uint64_t now)
{
	double duration = (double)(now - mal.region_begin);
	unsigned int cpus;
	double work, offer;
	bool was_long;

	/* A coarse clock has not gone on since: there is nothing to divide by. */
	if (now <= mal.region_begin)
		return;
	mal.region.last_look = now;
	/* It took long to create threads, and will not the next time. */
	if (mal.running > 1 && mal.running > mal.region.threads) {
		mal.region.threads = mal.running;
		return;
	}
	if (!mal_rule(&mal, MAL_RULE_LEND))
		return;
	offer = (double)measure_offer(mal.region_begin, now, &cpus) / duration;
	was_long = is_long(region);
	/* A CPU is granted while its rank waits. */
	work = duration * (mal.own_count + mal.borrowed_count + offer * count_granted());
	region->left = mal_sizing_is_shared(&mal) ? region->left - (region->left > 0) : SHARED_RUNS;
	learn_work(region, work);
	ask_for_cpus(region, offer);
	region->offer = (region->offer + offer) / 2;
	if (offer > GROW_OFFER)
		region->offered_cpus = cpus;
	if (was_long || is_long(region) ||
	    region->prepared_to_share != mal_sizing_may_share(region))
		region->prepared = 0;
}

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
#include "libmalleable/rank/sharing.h"
#include "libmalleable/rank/state/state.h"
#include "libmalleable/rank/team.h"

/* Shorter regions get no extra threads: sharing a CPU costs 17 % at 1 ms, 1.6 % at 10 ms. */
#define GROW_REGION_S 2e-3
/*
 * A rank that gave CPUs away opens regions of this length with as many threads as it had CPUs: if
 * its load comes back at once, others can help while the region runs. (Two threads on a CPU cost
 * 0.3 % there.)
 */
#define INSURE_REGION_S 40e-3
/* A long region may be as many times as long as it typically is: its runs may differ in size. */
#define TYPICAL_PART 8
/* Part of a region's time for which others must have waited. */
#define GROW_OFFER 0.08
/* From this part on add threads for few CPUs too, though they share unevenly until these come. */
#define GROW_SURE 0.5
/*
 * A very long region shares CPUs without a trial. After so many shared runs it runs alone, which
 * measures its length; twice as many each time.
 */
#define ALONE_AFTER 8u
#define ALONE_AFTER_MAX 1024u
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

void mal_sizing_open(void)
{
	mal.region.look_every = mal_s_to_ticks(LOOK_EVERY_S);
	mal.region.grow_region = mal_s_to_ticks(GROW_REGION_S);
	mal.region.insure_region = mal_s_to_ticks(INSURE_REGION_S);
}

/*
 * Whether the region takes TICKS on the rank's CPUs. One that the system interrupted seems to, but
 * typically takes far less.
 */
static bool takes(const struct mal_region *region, uint64_t ticks)
{
	return region->work >= (double)ticks * mal.own_count &&
	       region->length.typical >= ticks / TYPICAL_PART;
}

/* Whether the region is long enough for threads to share CPUs. */
bool mal_sizing_is_long(const struct mal_region *region)
{
	return takes(region, mal.region.grow_region);
}

/* Whether the region takes so long that neither a wake-up nor a second thread on a CPU matters. */
static bool is_very_long(const struct mal_region *region)
{
	return takes(region, mal.region.insure_region);
}

/* Whether the region is long, and each of several runs was. */
static bool is_surely_long(const struct mal_region *region)
{
	return mal_length_is_known(&region->length) &&
	       region->length.typical >= mal.region.grow_region && mal_sizing_is_long(region);
}

bool mal_sizing_may_share(const struct mal_region *region)
{
	if (!mal_rule(MAL_RULE_LEND))
		return false;
	if (is_very_long(region))
		return region->until_alone > 0;
	return mal_sharing() || (mal_sharing_may_begin() && is_surely_long(region));
}

/*
 * Team size of a long region in a rank with fewer CPUs than at home: the same number on each CPU.
 */
static unsigned int team_for_lost_cpus(const struct mal_region *region)
{
	unsigned int home;

	if (!is_very_long(region))
		return mal.own_count;
	home = mal_cpumask_count(&mal.home);
	if (mal.own_count >= home)
		return mal.own_count;
	return (home + mal.own_count - 1) / mal.own_count * mal.own_count;
}

/* Team size of the region: one thread per CPU, or more if CPUs may come while it runs. */
unsigned int mal_sizing_team(const struct mal_region *region)
{
	unsigned int cpus = mal_cpus_to_use(mal.own_count + mal.borrowed_count);
	unsigned int team;

	/* Others are about to hand us CPUs: they send a thread to each. */
	if (mal.planned > cpus && mal.planned <= mal.segment.thread_count && !region->harmed)
		return mal.planned;
	if (!mal_rule(MAL_RULE_GROW) || region->harmed || region->suspect > 0)
		return cpus;
	if (!mal_sizing_is_long(region) || !mal_sizing_may_share(region))
		return cpus;
	if (region->offer >= GROW_OFFER && region->offered_cpus >= mal.own_count)
		team = 2 * mal.own_count;
	else if (region->offer >= GROW_SURE)
		team = mal.own_count + region->offered_cpus;
	else
		team = team_for_lost_cpus(region);
	if (team > mal.segment.thread_count)
		team = cpus;
	return team > cpus ? team : cpus;
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
	return mal.running > mal.own_count || mal_team_may_differ();
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

/* Whether CPUs were shared in the region that ended, or some were those of others. */
static bool was_shared(void)
{
	return mal.stacked || mal.borrowed_count;
}

/* Whether WORK is far more than the region's. */
static bool is_far_more(const struct mal_region *region, double work)
{
	return region->work > 0 && work > GROW_HARM * region->work;
}

/*
 * A run took WORK at least, on the CPUs that it began with, and others waited for the part OFFER of
 * it: do shared CPUs harm the region?
 */
static void learn_harm(struct mal_region *region, double work, double offer)
{
	if (mal.stacked && offer < GROW_OFFER && is_far_more(region, work)) {
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
}

/* A run ended: count shared ones until the next alone. */
static void learn_alone(struct mal_region *region)
{
	if (was_shared()) {
		region->until_alone -= region->until_alone > 0;
		return;
	}
	if (!region->gap)
		region->gap = ALONE_AFTER;
	else if (!region->until_alone && region->gap < ALONE_AFTER_MAX)
		region->gap *= 2;
	region->until_alone = region->gap;
}

/*
 * A run took WORK. On shared CPUs, or with those of others, it may take longer than alone. One that
 * took far less shows that what is believed is wrong.
 */
static void learn_work(struct mal_region *region, double work)
{
	if (region->work <= 0 || work < region->work / 4)
		region->work = work;
	else if (work < region->work || !was_shared())
		region->work = (region->work + work) / 2;
}

/* Learn from the region that ended. */
__attribute__((noinline)) bool mal_sizing_learn(struct mal_region *region, uint64_t now)
{
	double duration = (double)(now - mal.region_begin);
	unsigned int cpus;
	double work, offer;
	bool was_long, turned;

	/* A coarse clock has not gone on since: there is nothing to divide by. */
	if (now <= mal.region_begin)
		return false;
	mal.region.last_look = now;
	/* It took long to create threads, and will not the next time. */
	if (mal.running > mal.region.threads) {
		mal.region.threads = mal.running;
		return false;
	}
	if (mal_sharing_may_begin() && was_shared() &&
	    is_far_more(region, duration * mal.own_count))
		mal_sharing_begin_later();
	turned = mal_sharing_learn(now, mal_length_runs(), mal_rule(MAL_RULE_LEND));
	if (!mal_rule(MAL_RULE_LEND))
		return turned;
	offer = (double)measure_offer(mal.region_begin, now, &cpus) / duration;
	/* Ranks that wait lend, at a cost, as soon as one could borrow. */
	if (offer > GROW_OFFER && can_borrow() && (mal.stacked || mal_sizing_may_share(region))) {
		mal_cpus_want(true);
		mal.region.looks_without = 0;
	} else if (++mal.region.looks_without > LOOKS_WITHOUT) {
		mal_cpus_want(false);
	}
	was_long = mal_sizing_is_long(region);
	work = duration * (mal.own_count + mal.borrowed_count);
	learn_harm(region, work, offer);
	/* A CPU is granted while its rank waits. */
	learn_work(region, work + duration * offer * count_granted());
	learn_alone(region);
	region->offer = (region->offer + offer) / 2;
	if (offer > GROW_OFFER)
		region->offered_cpus = cpus;
	if (was_long || mal_sizing_is_long(region))
		region->prepared = 0;
	return turned;
}

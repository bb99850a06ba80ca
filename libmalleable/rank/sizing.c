/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sizing.c: how many threads a region gets, by what its past runs took.
 *
 * Invariant: no region shares for ever without a run alone (t/unit/test_sizing.c:
 * alone_now_and_then).
 *
 * Two things are learnt from these: how long the region takes, and for which part of that time
 * other ranks waited. A long region in which others waited long is opened with more threads than
 * CPUs, so that a lender can send some of them to its own CPU while the region runs.
 */
#include "libmalleable/rank/sizing.h"

#include "libmalleable/core/request.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/length.h"
#include "libmalleable/rank/state/rank.h"
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

void mal_sizing_open(struct mal_rank *rank)
{
	rank->sizing_own.look_every = mal_s_to_ticks(LOOK_EVERY_S);
	rank->sizing_own.share_region = mal_s_to_ticks(SHARE_REGION_S);
	rank->sizing_own.grow_region = mal_s_to_ticks(GROW_REGION_S);
	mal_length_open(rank->sizing.share_region);
}

/*
 * Whether the region is long enough for threads to share CPUs: by its work, and by its typical
 * length, as an interruption makes a short one look long.
 */
static bool is_long(const struct mal_rank *rank, const struct mal_region *region)
{
	uint64_t ticks = rank->sizing.grow_region;

	return region->work >= (double)ticks * rank->cpus.owned_count &&
	       region->length.typical >= ticks / TYPICAL_PART;
}

bool mal_sizing_may_share(const struct mal_rank *rank, const struct mal_region *region)
{
	return mal_rule(rank, MAL_RULE_LEND) && region->length.lasts && region->left;
}

/* One thread per CPU, or more if CPUs may come while the region runs. */
static unsigned int wanted_team(const struct mal_rank *rank, const struct mal_region *region)
{
	unsigned int cpus =
		mal_cpus_to_use(rank, rank->cpus.owned_count + rank->cpus.borrowed_count);
	unsigned int team = cpus;

	/* Others are about to hand us CPUs: they send a thread to each. */
	if (rank->cpus.planned > cpus && rank->cpus.planned <= rank->segment.thread_count)
		return rank->cpus.planned;
	if (!mal_rule(rank, MAL_RULE_GROW) || !is_long(rank, region) ||
	    !mal_sizing_may_share(rank, region) || region->offer < GROW_OFFER)
		return cpus;
	if (region->offered_cpus >= rank->cpus.owned_count)
		team = 2 * rank->cpus.owned_count;
	else if (region->offer >= GROW_SURE)
		team = rank->cpus.owned_count + region->offered_cpus;
	return team > cpus && team <= rank->segment.thread_count ? team : cpus;
}

unsigned int mal_sizing_team(const struct mal_rank *rank, const struct mal_region *region)
{
	return mal_limited(rank, wanted_team(rank, region));
}

/*
 * For how long of the region the longest waiting rank waited, and how many CPUs the waiting ranks
 * own.
 */
static uint64_t measure_offer(const struct mal_rank *rank, uint64_t begin, uint64_t end,
			      unsigned int *cpus)
{
	bool waits[MAL_MAX_RANKS] = {false};
	uint64_t longest = 0;
	bool any = false;

	*cpus = 0;
	for (unsigned int number = 0; number < rank->segment.rank_count; number++) {
		const struct mal_rank_slot *slot = &rank->segment.ranks[number];
		uint64_t since = atomic_load_explicit(&slot->waiting_since, memory_order_relaxed);

		if (number == rank->me || !since || since >= end)
			continue;
		if (end - (since > begin ? since : begin) > longest)
			longest = end - (since > begin ? since : begin);
		waits[number] = true;
		any = true;
	}
	for (unsigned int cpu = 0; any && cpu < rank->segment.cpu_count; cpu++) {
		unsigned int owner = mal_word_read(&rank->segment.cpus[cpu].word).owner;

		*cpus += owner < rank->segment.rank_count && waits[owner];
	}
	return longest;
}

/* Whether the region that ended could have used more CPUs than the rank's. */
static bool can_borrow(const struct mal_rank *rank)
{
	return rank->region.running > rank->cpus.owned_count || mal_team_may_differ(rank);
}

/* How many CPUs lenders granted while the region ran; they may have taken them back since. */
static unsigned int count_granted(const struct mal_rank *rank)
{
	unsigned int began = rank->cpus.owned_count + rank->cpus.borrowed_count, had;

	if (!rank->region.may_share_cpus)
		return 0;
	had = mal_request_read(&rank->segment, rank->me).cpus;
	/* Others write it. */
	had = had < rank->region.running ? had : rank->region.running;
	return had > began ? had - began : 0;
}

/*
 * A run took WORK. On shared CPUs, or with those of others, it may take longer than alone. One that
 * took far less shows that what is believed is wrong.
 */
static void learn_work(const struct mal_rank *rank, struct mal_region *region, double work)
{
	if (region->work <= 0 || work < region->work / 4)
		region->work = work;
	else if (work < region->work || !mal_sizing_is_shared(rank))
		region->work = (region->work + work) / 2;
}

/* Ranks that wait lend, at a cost, as soon as one could borrow. */
static void ask_for_cpus(struct mal_rank *rank, const struct mal_region *region, double offer)
{
	if (offer > GROW_OFFER && can_borrow(rank) &&
	    (rank->region.oversubscribed || mal_sizing_may_share(rank, region))) {
		mal_borrower_set(&rank->segment, rank->me, true);
		rank->sizing_own.looks_without = 0;
	} else if (++rank->sizing_own.looks_without > LOOKS_WITHOUT) {
		mal_borrower_set(&rank->segment, rank->me, false);
	}
}

/* Learn from the region that ended. */
__attribute__((noinline)) void mal_sizing_learn(struct mal_rank *rank, struct mal_region *region,
						uint64_t now)
{
	double duration = (double)(now - rank->region.begin);
	unsigned int cpus;
	double work, offer;
	bool was_long;

	/* A coarse clock has not gone on since: there is nothing to divide by. */
	if (now <= rank->region.begin)
		return;
	rank->sizing_own.last_look = now;
	/* It took long to create threads, and will not the next time. */
	if (rank->region.running > 1 && rank->region.running > rank->sizing.threads) {
		rank->sizing_own.threads = rank->region.running;
		return;
	}
	if (!mal_rule(rank, MAL_RULE_LEND))
		return;
	offer = (double)measure_offer(rank, rank->region.begin, now, &cpus) / duration;
	was_long = is_long(rank, region);
	/* A CPU is granted while its rank waits. */
	work = duration *
	       (rank->cpus.owned_count + rank->cpus.borrowed_count + offer * count_granted(rank));
	region->left = mal_sizing_is_shared(rank) ? region->left - (region->left > 0) : SHARED_RUNS;
	learn_work(rank, region, work);
	ask_for_cpus(rank, region, offer);
	region->offer = (region->offer + offer) / 2;
	if (offer > GROW_OFFER)
		region->offered_cpus = cpus;
	if (was_long || is_long(rank, region) ||
	    region->prepared_to_share != mal_sizing_may_share(rank, region))
		region->prepared = 0;
}

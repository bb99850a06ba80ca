/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pool_division.c: share out a pool of CPUs among several steps. */
#include "policies/model/pool_division.h"

#include <stdbool.h>
#include <string.h>

#include "policies/interface/limits.h"
#include "policies/model/apportion.h"

/* One more CPU helps a rank if it shortens the rank's time by more than this part. */
#define HELPED 0.02
/* A step may become longer by this factor, which is noise. */
#define LONGER 1.02

static double time_of(const struct mal_pool_rank *rank, unsigned int cpus)
{
	return mal_apportion_time(&(struct mal_load){.serial = rank->serial, .work = rank->work},
				  cpus);
}

static bool can_take(const struct mal_pool_rank *rank, unsigned int cpus)
{
	return !rank->max || cpus < rank->max;
}

/*
 * Find the longest rank that one more CPU helps, or else the rank that it helps most. Returns
 * RANK_COUNT if no rank can use it.
 */
static unsigned int find_taker(const struct mal_pool_rank *ranks, unsigned int rank_count,
			       const unsigned int *count)
{
	unsigned int longest = rank_count, helped = rank_count;
	double max = -1, most_help = -1;

	for (unsigned int rank = 0; rank < rank_count; rank++) {
		double time = time_of(&ranks[rank], count[rank]);
		double help = time - time_of(&ranks[rank], count[rank] + 1);

		if (!can_take(&ranks[rank], count[rank]))
			continue;
		if (help > HELPED * time && time > max) {
			longest = rank;
			max = time;
		}
		if (help > most_help) {
			helped = rank;
			most_help = help;
		}
	}
	return longest < rank_count ? longest : helped;
}

static bool hand_out(const struct mal_pool_rank *ranks, unsigned int rank_count, unsigned int cpus,
		     unsigned int *count)
{
	if (cpus < rank_count)
		return false;
	for (unsigned int rank = 0; rank < rank_count; rank++)
		count[rank] = 1;
	for (cpus -= rank_count; cpus; cpus--) {
		unsigned int taker = find_taker(ranks, rank_count, count);

		if (taker == rank_count)
			return false;
		count[taker]++;
	}
	return true;
}

/* Returns the time of STEP's longest rank with COUNT; NULL: with the present CPUs. */
static double longest(const struct mal_pool_rank *ranks, unsigned int rank_count, unsigned int step,
		      const unsigned int *count)
{
	double max = 0;

	for (unsigned int rank = 0; rank < rank_count; rank++) {
		double time = time_of(&ranks[rank], count ? count[rank] : ranks[rank].cpus);

		if (ranks[rank].step == step && time > max)
			max = time;
	}
	return max;
}

double mal_pool_divide(const struct mal_pool_rank *ranks, unsigned int rank_count,
		       unsigned int step_count, unsigned int *wanted)
{
	unsigned int count[MAL_MAX_RANKS], cpus = 0;
	double busiest = 0, gain = 0;

	if (rank_count > MAL_MAX_RANKS)
		return 0;
	memset(wanted, 0, step_count * sizeof(wanted[0]));
	for (unsigned int rank = 0; rank < rank_count; rank++)
		cpus += ranks[rank].cpus;
	if (!hand_out(ranks, rank_count, cpus, count))
		return 0;
	for (unsigned int step = 0; step < step_count; step++) {
		double now = longest(ranks, rank_count, step, NULL);

		busiest = now > busiest ? now : busiest;
	}
	for (unsigned int step = 0; step < step_count; step++) {
		double now = longest(ranks, rank_count, step, NULL),
		       then = longest(ranks, rank_count, step, count);

		if (then > LONGER * busiest)
			return 0;
		if (now > 0 && 1 - then / now > gain)
			gain = 1 - then / now;
	}
	for (unsigned int rank = 0; rank < rank_count; rank++)
		wanted[ranks[rank].step] += count[rank];
	return gain;
}

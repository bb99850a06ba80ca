/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * length.c: how long a parallel region typically is.
 *
 * Invariant: runs that the system interrupted make no region long (t/unit/test_sizing.c:
 * interrupted_short_regions_share_nothing).
 */
#include "libmalleable/rank/length.h"

#include "libmalleable/base/clock.h"

/* The least of so many runs is typical at first. */
#define FIRST_RUNS 8
/* A run longer than this was not just interrupted, and is typical at once. */
#define SURE_S 0.5
/* What a longer run adds at least. */
#define STEP_S 10e-6
/* A region that lasts is short when it typically takes less by this part. */
#define SLACK_PART 3
/* Lately: what was before counts for half after this time in regions. */
#define LATELY_S 1.0

/* Of the primary thread. */
static struct {
	uint64_t all, in_short; /* ticks in regions lately, and in short ones */
	/* ticks, set once */
	uint64_t sure, step, lately, short_region, slack;
} lengths;

void mal_length_open(uint64_t short_region)
{
	lengths.all = lengths.in_short = 0;
	lengths.sure = mal_s_to_ticks(SURE_S);
	lengths.step = mal_s_to_ticks(STEP_S);
	lengths.lately = mal_s_to_ticks(LATELY_S);
	lengths.short_region = short_region;
	lengths.slack = short_region / SLACK_PART;
}

static inline void adapt(struct mal_length *length, uint64_t ticks, bool undisturbed)
{
	if (undisturbed && ticks > lengths.sure) {
		length->met += length->met < FIRST_RUNS;
		length->typical = ticks;
	} else if (length->met < FIRST_RUNS) {
		if (!length->met++ || ticks < length->typical)
			length->typical = ticks;
	} else if (ticks <= length->typical) {
		length->typical -= length->typical / 10;
	} else if (undisturbed) {
		length->typical += length->typical / 2 + lengths.step;
		if (length->typical > ticks)
			length->typical = ticks;
	}
}

void mal_length_learn(struct mal_length *length, uint64_t ticks, bool undisturbed)
{
	adapt(length, ticks, undisturbed);
	lengths.all += ticks;
	/* What is typical falls and rises all the time: it must not change sides with that. */
	length->lasts = length->typical >= lengths.short_region - length->lasts * lengths.slack;
	if (!length->lasts)
		lengths.in_short += ticks;
	if (lengths.all > lengths.lately) {
		lengths.all /= 2;
		lengths.in_short /= 2;
	}
}

bool mal_length_is_mostly_short(void)
{
	return 2 * lengths.in_short > lengths.all;
}

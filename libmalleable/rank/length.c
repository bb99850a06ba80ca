/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* length.c: how long a parallel region typically is. */
#include "libmalleable/rank/length.h"

#include "libmalleable/base/clock.h"

/* The least of so many runs is typical at first; after fewer it is not known. */
#define FIRST_RUNS 8
#define UNKNOWN_RUNS 3
/* A run longer than this was not just interrupted, and is typical at once. */
#define SURE_S 0.5
/* Runs of regions that are not known count once they took so long in sum. */
#define UNKNOWN_S 1.0
/* What a longer run adds at least. */
#define STEP_S 10e-6

static struct lengths {
	struct mal_runs runs;
	struct mal_length unknown; /* of all regions that are not known yet */
	uint64_t unknown_ticks;
	/* ticks, set once */
	uint64_t sure, enough, step;
} lengths;

void mal_length_open(void)
{
	lengths.sure = mal_s_to_ticks(SURE_S);
	lengths.enough = mal_s_to_ticks(UNKNOWN_S);
	lengths.step = mal_s_to_ticks(STEP_S);
}

bool mal_length_is_known(const struct mal_length *length)
{
	return length->met >= UNKNOWN_RUNS;
}

static inline void adapt(struct mal_length *length, uint64_t ticks, bool own)
{
	if (own && ticks > lengths.sure) {
		length->met += length->met < FIRST_RUNS;
		length->typical = ticks;
	} else if (length->met < FIRST_RUNS) {
		if (!length->met++ || ticks < length->typical)
			length->typical = ticks;
	} else if (own && ticks <= length->typical) {
		length->typical -= length->typical / 6;
	} else if (own) {
		length->typical += length->typical + lengths.step;
		if (length->typical > ticks)
			length->typical = ticks;
	}
}

void mal_length_learn(struct mal_length *length, uint64_t ticks, bool own)
{
	const struct mal_length *known = length;

	if (!mal_length_is_known(length)) {
		adapt(&lengths.unknown, ticks, own);
		lengths.unknown_ticks += ticks;
		known = &lengths.unknown;
	}
	if (known == length || lengths.unknown_ticks > lengths.enough) {
		lengths.runs.count++;
		lengths.runs.ticks += ticks;
		lengths.runs.typical += known->typical;
	}
	adapt(length, ticks, own);
}

const struct mal_runs *mal_length_runs(void)
{
	return &lengths.runs;
}

void mal_length_clear(void)
{
	lengths.runs = (struct mal_runs){0};
	lengths.unknown = (struct mal_length){0};
	lengths.unknown_ticks = 0;
}

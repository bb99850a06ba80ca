/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sharing.c: whether short regions share CPUs. */
#include "libmalleable/rank/sharing.h"

#include "libmalleable/base/clock.h"

/* A way is known after this time and so many regions: phases have regions of all lengths. */
#define TRY_S 0.2
#define REGIONS_MIN 8
/* What is tried has failed if it takes more than so many regions may. */
#define REGIONS 128
/* Where regions are shorter a wake-up takes too large a part of them. */
#define SHORT_S 300e-6
/* Regions that are shorter by this are over soon, as those that read input: some are a window. */
#define TINY 0.1
/* Sharing harms where regions take this many times as long. */
#define HARM 1.5
/*
 * The other way is tried again after this time, or after the longer one where sharing is what is
 * kept; four times as long while the answer is the same.
 */
#define REST_S 1.0
#define REST_SHARING_S 4.0
#define REST_MAX_S 1000.0
/*
 * Regions that take HARM times as long as when sharing was kept make it be tried anew, as the first
 * regions of a program tell little; after this time, twice as long each time that it is kept.
 */
#define CALM_S 0.4
#define CALM_MAX_S 100.0

static struct sharing {
	bool on;
	bool lent;	 /* so it was as the window began */
	bool trying;	 /* to compare with the time before */
	bool learnt;	 /* the first window has ended */
	uint64_t window; /* tick at which the runs below began */
	struct mal_runs runs;
	uint64_t since;	  /* tick at which the way was chosen or tried last */
	double typical;	  /* ticks of a region by itself in the last window */
	double early;	  /* and in the first window so far; 0 from its end on */
	double before;	  /* and in the other way */
	double kept;	  /* and when sharing was kept */
	double shared;	  /* and in the last window that shared; 0: none since the way was chosen */
	float rest, calm; /* seconds until the other way is tried */
} sharing;

static void start_from(uint64_t now, const struct mal_runs *runs)
{
	sharing.window = now;
	sharing.runs = *runs;
}

static double short_region(void)
{
	return (double)mal_s_to_ticks(SHORT_S);
}

/* Whether REGIONS that took TICKS since the window began say enough. */
static bool is_known(uint64_t now, uint64_t regions, uint64_t ticks)
{
	if (regions < REGIONS_MIN)
		return false;
	/* A trial that fails ends early, and costs little. */
	if (sharing.trying && sharing.on && (double)ticks > HARM * REGIONS * sharing.before)
		return true;
	if (regions >= REGIONS && (double)ticks < TINY * short_region() * (double)regions)
		return true;
	return mal_ticks_to_s(now - sharing.window) >= TRY_S;
}

/* The other way was tried: keep to the better one. Returns whether that is the one before. */
static bool keep_better(double mean)
{
	double shared = sharing.on ? mean : sharing.before;
	double alone = sharing.on ? sharing.before : mean;
	bool keep = shared <= HARM * alone, back = keep != sharing.on;

	sharing.trying = false;
	if (!back)
		sharing.rest = sharing.on ? REST_SHARING_S : REST_S;
	else if (sharing.rest < REST_MAX_S)
		sharing.rest *= 4;
	if (keep) {
		sharing.kept = shared;
		if (sharing.calm < CALM_MAX_S)
			sharing.calm = back && sharing.calm > 0 ? 2 * sharing.calm : CALM_S;
	} else {
		sharing.calm = 0;
	}
	return back;
}

bool mal_sharing_is_of_no_use(void)
{
	return sharing.typical < short_region();
}

/* Whether to try the other way, as regions take MEAN ticks. */
static bool is_time(uint64_t now, double mean)
{
	double passed = mal_ticks_to_s(now - sharing.since);

	if (!sharing.on && mal_sharing_is_of_no_use())
		return false;
	return passed >= sharing.rest ||
	       (sharing.on && mean > HARM * sharing.kept && passed >= sharing.calm);
}

/*
 * Nobody lends: MEAN is what regions take alone, while those of other ranks are alone too. Returns
 * whether sharing ends as they took far longer.
 */
static bool leave_if_harmful(uint64_t now, double mean)
{
	if (!sharing.on || sharing.shared <= HARM * mean)
		return false;
	sharing.since = now;
	sharing.rest = REST_S;
	sharing.calm = 0;
	sharing.on = sharing.trying = false;
	return true;
}

/* Nobody lends from now on. Of very long regions that share, too few end for a window. */
static void note_unknown(uint64_t now, uint64_t regions, uint64_t ticks)
{
	if (sharing.on && regions && mal_ticks_to_s(now - sharing.window) >= TRY_S &&
	    (double)ticks > sharing.shared * (double)regions)
		sharing.shared = (double)ticks / (double)regions;
}

bool mal_sharing_learn(uint64_t now, const struct mal_runs *runs, bool lends)
{
	uint64_t count = runs->count - sharing.runs.count;
	uint64_t taken = runs->ticks - sharing.runs.ticks;
	double mean, typical;

	if (!sharing.window || lends != sharing.lent) {
		if (sharing.window && !lends)
			note_unknown(now, count, taken);
		sharing.lent = lends;
		start_from(now, runs);
		return false;
	}
	if (!count)
		return false;
	mean = (double)taken / (double)count;
	typical = (double)(runs->typical - sharing.runs.typical) / (double)count;
	if (!is_known(now, count, taken)) {
		if (!sharing.learnt)
			sharing.early = typical;
		if (sharing.typical <= 0 && mal_ticks_to_s(now - sharing.window) >= TRY_S)
			sharing.typical = typical;
		return false;
	}
	start_from(now, runs);
	sharing.learnt = true;
	sharing.early = 0;
	sharing.typical = typical;
	if (!lends)
		return leave_if_harmful(now, mean);
	if (sharing.on)
		sharing.shared = mean;
	if (sharing.trying) {
		sharing.since = now;
		if (!keep_better(mean))
			return false;
	} else {
		if (!is_time(now, mean))
			return false;
		sharing.since = now;
		sharing.trying = true;
		sharing.before = mean;
		if (sharing.rest <= 0)
			sharing.rest = REST_S;
	}
	sharing.on = !sharing.on;
	sharing.shared = 0;
	return true;
}

bool mal_sharing(void)
{
	return sharing.on;
}

bool mal_sharing_may_begin(void)
{
	return !sharing.on && sharing.early >= short_region();
}

void mal_sharing_begin_later(void)
{
	sharing.learnt = true;
	sharing.early = 0;
	sharing.window = 0;
}

void mal_sharing_clear(void)
{
	sharing = (struct sharing){0};
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* linger.c: whether threads that wait for work may be put to sleep. */
#include "libmalleable/rank/linger.h"

#include "libmalleable/base/clock.h"

/* A way is known after this many regions, or where they are long after this time and a few. */
#define REGIONS 128
#define REGIONS_MIN 8
#define TRY_S 0.2
/* Sleep harms where regions take this many times as long. */
#define HARM 1.5
/* The other way is tried again after this time; four times as long while the answer is the same. */
#define REST_S 1.0
#define REST_MAX_S 1000.0

struct waiting {
	bool asleep;		 /* how threads wait now */
	bool trying;		 /* to compare with the time before */
	uint64_t begin;		 /* tick from when on */
	uint64_t regions, ticks; /* until then */
	double before;		 /* ticks of a region in the other way */
	double rest;		 /* seconds until the other way is tried */
};

static struct waiting waiting;

static void start_from(uint64_t now, uint64_t regions, uint64_t ticks)
{
	waiting.begin = now;
	waiting.regions = regions;
	waiting.ticks = ticks;
}

static bool is_known(uint64_t now, uint64_t regions)
{
	return regions >= REGIONS ||
	       (regions >= REGIONS_MIN && mal_ticks_to_s(now - waiting.begin) >= TRY_S);
}

/* The other way was tried: keep to the better one. Returns whether that is the one before. */
static bool keep_better(double mean)
{
	double asleep = waiting.asleep ? mean : waiting.before;
	double awake = waiting.asleep ? waiting.before : mean;
	bool back = (asleep > HARM * awake) == waiting.asleep;

	waiting.trying = false;
	if (!back)
		waiting.rest = REST_S;
	else if (waiting.rest < REST_MAX_S)
		waiting.rest *= 4;
	return back;
}

bool mal_linger_learn(uint64_t now, uint64_t regions, uint64_t ticks)
{
	uint64_t count = regions - waiting.regions;
	double mean;

	if (!waiting.begin) {
		start_from(now, regions, ticks);
		return false;
	}
	if (!is_known(now, count) ||
	    (!waiting.trying && mal_ticks_to_s(now - waiting.begin) < waiting.rest))
		return false;
	mean = (double)(ticks - waiting.ticks) / (double)count;
	start_from(now, regions, ticks);
	if (waiting.trying) {
		if (!keep_better(mean))
			return false;
	} else {
		waiting.trying = true;
		waiting.before = mean;
		if (waiting.rest <= 0)
			waiting.rest = REST_S;
	}
	waiting.asleep = !waiting.asleep;
	return true;
}

bool mal_linger_may_sleep(void)
{
	return waiting.asleep;
}

void mal_linger_clear(void)
{
	waiting = (struct waiting){0};
}

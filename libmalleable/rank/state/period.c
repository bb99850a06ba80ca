/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * period.c: find the period of a sequence of events while it runs.
 *
 * Invariant: a period has one boundary (t/unit/test_period.c: simple_periods_are_found).
 */
#include "libmalleable/rank/state/period.h"

/* Table entries probed for an event. */
#define PROBES 4
/* Earlier occurrences tried for a longer period. */
#define STEPS_BACK 16

static uint32_t at(const struct mal_period *period, uint64_t index)
{
	return period->history[index % MAL_PERIOD_HISTORY];
}

/* The table entry of EVENT; if it has none, the least recently used one. */
static uint32_t place_of(const struct mal_period *period, uint32_t event)
{
	uint32_t first = (uint32_t)(event * UINT32_C(2654435761)) >> 22, oldest = first;

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t place = (first + i) % MAL_PERIOD_KINDS;

		if (period->last[place].next && period->last[place].event == event)
			return place;
		if (period->last[place].next < period->last[oldest].next)
			oldest = place;
	}
	return oldest;
}

/*
 * Distance from the next event back to the last occurrence of EVENT, whose entry is PLACE. 0: none
 * remembered.
 */
static uint32_t distance_to(const struct mal_period *period, uint32_t place, uint32_t event)
{
	uint64_t distance;

	if (!period->last[place].next || period->last[place].event != event)
		return 0;
	distance = period->count - (period->last[place].next - 1);
	return distance < MAL_PERIOD_HISTORY ? (uint32_t)distance : 0;
}

/* The first distance beyond LONGER_THAN on the chain that begins with DISTANCE, 0: none. */
static uint32_t longer(const struct mal_period *period, uint32_t distance, uint32_t longer_than)
{
	for (int i = 0; i < STEPS_BACK && distance; i++) {
		uint32_t back;

		if (distance > longer_than)
			return distance;
		back = period->back[(period->count - distance) % MAL_PERIOD_HISTORY];
		distance = back && distance + back < MAL_PERIOD_HISTORY ? distance + back : 0;
	}
	return 0;
}

/*
 * Count EVENT if the candidate predicted it, else choose the next candidate. EVENT last occurred
 * DISTANCE ago.
 */
static void explain(struct mal_period *period, uint32_t event, uint32_t distance)
{
	uint32_t next;

	if (period->length && period->length <= period->count &&
	    at(period, period->count - period->length) == event) {
		period->matches++;
		return;
	}
	/* A longer period may explain what a shorter one did not: try those first. */
	next = longer(period, distance, period->length);
	period->length = next ? next : distance;
	period->matches = 0;
	period->phase = 0;
}

bool mal_period_event(struct mal_period *period, uint32_t event)
{
	uint32_t place = place_of(period, event);
	uint32_t distance = distance_to(period, place, event);

	explain(period, event, distance);
	period->history[period->count % MAL_PERIOD_HISTORY] = event;
	period->back[period->count % MAL_PERIOD_HISTORY] = distance;
	period->count++;
	period->last[place].event = event;
	period->last[place].next = period->count;
	if (!period->length || period->matches < 2 * period->length)
		return false;
	if (++period->phase < period->length)
		return false;
	period->phase = 0;
	return true;
}

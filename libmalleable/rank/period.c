/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* period.c: the period of a sequence of events, found while it runs. */
#include "libmalleable/rank/period.h"

static uint32_t at(const struct mal_period *period, uint64_t index)
{
	return period->history[index % MAL_PERIOD_HISTORY];
}

/* Distance from the newest event back to its last occurrence beyond LONGER_THAN, 0: none. */
static uint32_t last_occurrence(const struct mal_period *period, uint32_t event, uint32_t longer_than)
{
	uint64_t known = period->count < MAL_PERIOD_HISTORY ? period->count : MAL_PERIOD_HISTORY - 1;

	for (uint32_t distance = longer_than + 1; distance <= known; distance++)
		if (at(period, period->count - distance) == event)
			return distance;
	return 0;
}

bool mal_period_event(struct mal_period *period, uint32_t event)
{
	bool explained = period->length && period->length <= period->count &&
			 at(period, period->count - period->length) == event;

	if (explained) {
		period->matches++;
	} else {
		/* A longer period explains what a shorter one did not: look behind it first. */
		uint32_t longer = last_occurrence(period, event, period->length);

		period->length = longer ? longer : last_occurrence(period, event, 0);
		period->matches = 0;
		period->phase = 0;
	}
	period->history[period->count % MAL_PERIOD_HISTORY] = event;
	period->count++;
	if (!period->length || period->matches < 2 * period->length)
		return false;
	if (++period->phase < period->length)
		return false;
	period->phase = 0;
	return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* period.h: the period of a sequence of events, found while it runs. */
#ifndef MAL_RANK_PERIOD_H
#define MAL_RANK_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#define MAL_PERIOD_HISTORY 512
#define MAL_PERIOD_KINDS 1024

/*
 * A period P is taken as found when the last 2 P events were each equal to the one P before. A mismatch starts
 * the search again, from the distance to the last occurrence of the event at hand. Occurrences are chained, so that an
 * event costs some 10 ns and never more than 50 (t/bench/scale), whatever the sequence.
 */
struct mal_period {
	uint32_t history[MAL_PERIOD_HISTORY];
	uint32_t back[MAL_PERIOD_HISTORY]; /* from each event to the one before it that is equal, 0: none */
	struct {
		uint32_t event;
		uint64_t next; /* count right behind its last occurrence, 0: none */
	} last[MAL_PERIOD_KINDS];
	uint64_t count;	  /* events so far */
	uint32_t length;  /* candidate, 0: none */
	uint32_t matches; /* events in a row that it explained */
	uint32_t phase;	  /* events since the last boundary */
};

/* Take the next event. Returns true if it ends a period. */
bool mal_period_event(struct mal_period *period, uint32_t event);

#endif

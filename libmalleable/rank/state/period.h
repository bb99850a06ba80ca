/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* period.h: find the period of a sequence of events while it runs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MAL_PERIOD_HISTORY 512
#define MAL_PERIOD_KINDS 1024

/*
 * A period P is accepted when each of the last 2 P events equals the one P events earlier. A
 * mismatch restarts the search at the distance to the last occurrence of the current event. Equal
 * events are chained, so an event takes about 10 ns and never more than 50 ns (t/bench/scale).
 */
struct mal_period {
	uint32_t history[MAL_PERIOD_HISTORY];
	/* distance from each event to the previous equal one, 0: none */
	uint32_t back[MAL_PERIOD_HISTORY];
	struct {
		uint32_t event;
		uint64_t next; /* count just after its last occurrence, 0: none */
	} last[MAL_PERIOD_KINDS];
	uint64_t count;	  /* events so far */
	uint32_t length;  /* candidate period, 0: none */
	uint32_t matches; /* consecutive events that the candidate predicted */
	uint32_t phase;	  /* events since the last boundary */
};

/* Record the next event. Returns true if it ends a period. */
bool mal_period_event(struct mal_period *period, uint32_t event);

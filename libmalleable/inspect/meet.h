/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* meet.h: the ways that meet in a block, and what they make of a location. */
#ifndef MAL_INSPECT_MEET_H
#define MAL_INSPECT_MEET_H

#include "libmalleable/inspect/analysis.h"

enum { MAL_MEETING = 64 };

/* Values of one location on the ways that meet in a block. */
struct mal_meeting {
	struct mal_analysis *analysis;
	uint32_t block, count;
	const struct mal_state *states[MAL_MEETING];
	uint32_t sides[MAL_MEETING], before[MAL_MEETING];
	mal_value values[MAL_MEETING];
	/* On one of the ways the thread has few iterations. */
	int few;
};

/* What LOCATION holds, by its values on each of the ways. */
mal_value mal_meet(struct mal_meeting *meeting, uint64_t location);

#endif

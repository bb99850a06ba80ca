/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* silence.h: a machine on which nothing ever comes, and waiting turns the clock. */
#ifndef MAL_T_UNIT_SILENCE_H
#define MAL_T_UNIT_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

struct silence {
	uint64_t ns;   /* the time of all clocks */
	bool connects; /* connect(2) succeeds */
};

extern struct silence silence;

#endif

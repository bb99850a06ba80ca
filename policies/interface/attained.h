/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* attained.h: what part of the possible gain a step, or a policy in a replay, has got. */
#pragma once

#include <math.h>

/*
 * Share of the attainable: (off - elapsed) / (off - ideal); NaN where there is less than one
 * percent to gain.
 */
static inline double mal_attained(double off_s, double ideal_s, double elapsed_s)
{
	double attainable = off_s - ideal_s;

	if (off_s <= 0 || attainable < off_s / 100)
		return NAN;
	return (off_s - elapsed_s) / attainable;
}

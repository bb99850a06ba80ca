/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lending.c: what simulations of lending ranks share. */
#include "policies/model/lending.h"

double mal_next_event(const void *scene, unsigned int count, mal_time_left *time_left)
{
	double soonest = -1;

	for (unsigned int i = 0; i < count; i++) {
		double left = time_left(scene, i);

		if (left >= 0 && (soonest < 0 || left < soonest))
			soonest = left;
	}
	return soonest;
}

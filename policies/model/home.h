/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * home.h: the CPUs that ranks had when the step began, one by one.
 *
 * The user placed ranks there, their memory is near, and it is what a step takes without balancing.
 * When a rank ends, or CPUs come or go, home is wherever ranks are then.
 */
#pragma once

#include "policies/interface/limits.h"
#include "policies/interface/policy.h"

struct mal_home {
	size_t rank_count, cpu_count;
	unsigned int cpus; /* of running ranks */
	unsigned int owner[MAL_MAX_CPUS];
	unsigned int count[MAL_MAX_RANKS];
	bool running[MAL_MAX_RANKS];
};

/*
 * NOW, by rank, gets how many CPUs each rank of VIEW has, which has samples. Returns the sum of
 * those of running ranks: what others had stays with them.
 */
unsigned int mal_home_count(const struct mal_view *view, unsigned int *now);

/* Are the same ranks there as at home, with the same CPUs in all, which they can use? */
bool mal_home_is_of(const struct mal_home *home, const struct mal_view *view, unsigned int cpus);

/*
 * Where ranks are now is home from now on. CPUS: of running ranks. */
void mal_home_settle(struct mal_home *home, const struct mal_view *view, unsigned int cpus);

/* Does each rank have the very CPUs that it had at home? */
bool mal_home_is_here(const struct mal_home *home, const struct mal_view *view);

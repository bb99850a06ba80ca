/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bounds.c: what the program declares of its balancing.
 *
 * Invariant: while balancing is disabled the rank has no CPU of others (t/unit/test_team.c:
 * bounds_its_balancing).
 */
#include "libmalleable/rank/bounds.h"

#include "libmalleable/core/request.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/cpus/unmanaged.h"
#include "libmalleable/rank/state/rank.h"
#include "libmalleable/rank/team.h"

void mal_bounds_limit(struct mal_rank *rank, unsigned int max)
{
	unsigned int owned = rank->cpus.owned_count;

	rank->bounds_own.limit = max < MAL_MAX_CPUS ? max : 0;
	if (rank->bounds.limit)
		mal_cpus_release_beyond(
			rank, rank->bounds.limit > owned ? rank->bounds.limit - owned : 0);
	if (mal_team_is_free(rank))
		mal_team_follow(rank, mal_cpus_to_use(rank, owned));
	mal_unmanaged_bound(rank);
	mal_cpus_outdate(rank);
}

void mal_bounds_disable(struct mal_rank *rank)
{
	if (rank->bounds_own.disabled++)
		return;
	mal_request_close(&rank->segment, rank->me);
	mal_borrower_set(&rank->segment, rank->me, false);
	rank->bounds_own.rules_dropped = MAL_RULE_LEND | MAL_RULE_GROW | MAL_RULE_AWAIT;
	mal_cpus_release(rank);
	mal_cpus_outdate(rank);
}

bool mal_bounds_enable(struct mal_rank *rank)
{
	if (!rank->bounds.disabled)
		return false;
	if (--rank->bounds_own.disabled)
		return true;
	rank->bounds_own.rules_dropped = 0;
	/* Others may have given it CPUs. */
	mal_cpus_outdate(rank);
	mal_cpus_refresh(rank);
	mal_unmanaged_bound(rank);
	/* And the next region's team follows what came. */
	mal_cpus_outdate(rank);
	return true;
}

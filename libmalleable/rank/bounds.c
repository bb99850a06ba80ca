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

/* Regions were prepared for other bounds. */
static void outdate_preparation(struct mal_rank *rank)
{
	rank->prepared.rules = ~UINT32_C(0);
}

void mal_bounds_limit(struct mal_rank *rank, unsigned int most)
{
	unsigned int owned = rank->cpus.owned_count;

	rank->limit = most < MAL_MAX_CPUS ? most : 0;
	if (rank->limit)
		mal_cpus_release_beyond(rank, rank->limit > owned ? rank->limit - owned : 0);
	if (mal_team_is_free(rank))
		mal_team_follow(rank, mal_cpus_to_use(rank, owned));
	mal_unmanaged_bound(rank);
	outdate_preparation(rank);
}

void mal_bounds_disable(struct mal_rank *rank)
{
	if (rank->disabled++)
		return;
	mal_request_close(&rank->segment, rank->me);
	mal_borrower_set(&rank->segment, rank->me, false);
	mal_unmanaged_bound(rank);
	rank->rules_dropped = MAL_RULE_LEND | MAL_RULE_GROW | MAL_RULE_AWAIT;
	mal_cpus_release(rank);
	outdate_preparation(rank);
}

bool mal_bounds_enable(struct mal_rank *rank)
{
	if (!rank->disabled)
		return false;
	if (--rank->disabled)
		return true;
	rank->rules_dropped = 0;
	/* Others may have given it CPUs. */
	rank->cpus.seen_changes = atomic_load(&rank->slot->changes) - 1;
	mal_cpus_refresh(rank);
	mal_unmanaged_bound(rank);
	outdate_preparation(rank);
	return true;
}

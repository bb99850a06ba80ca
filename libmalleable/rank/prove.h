/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prove.h: whether the program's regions are classified, and what that says of each. */
#ifndef MAL_RANK_PROVE_H
#define MAL_RANK_PROVE_H

#include <stdbool.h>

#include "libmalleable/rank/state/state.h"

/* Classify them unless it was asked not to (prove=no). Once, before the first region. */
void mal_prove(void);

/* Whether the region that the call before WHERE starts is free, and whether it counts threads. */
bool mal_prove_is_free(const void *where);
bool mal_prove_counts(const void *where);

/* That region is bound and ran: the report names one. */
void mal_prove_say_bound(const void *where);

/* Whether the program knows no number, and could not contradict itself. */
static inline bool mal_prove_is_quiet(void)
{
	return mal.proofs.quiet && !atomic_load_explicit(&mal.reported, memory_order_relaxed);
}

/* Whether the current region may have any team, of a program that was not told 1. */
static inline bool mal_prove_any_team(void)
{
	return mal.proofs.free || (!mal.proofs.counts && mal_prove_is_quiet());
}

/* The program was told 1 thread, or chose it: all of its teams keep their size. Any thread. */
void mal_prove_told_one(void);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bind.h: every thread of a team on a CPU that its rank uses. */
#ifndef MAL_RANK_BIND_H
#define MAL_RANK_BIND_H

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/core/segment.h"

/*
 * Place the threads 0 .. TEAM-1 on our CPUs, neighbours together, and bind those whose place changed. Threads that do
 * not exist yet bind themselves when they start. Primary thread, outside regions. Returns false where all were in their places.
 */
bool mal_bind_team(unsigned int team);

/* The calling thread, number INDEX of a team, goes to its place if it is elsewhere. */
void mal_bind_self(struct mal_thread_slot *slot, int32_t tid);

/* All threads of the process that are in no team may use just the CPUs that our rank uses. */
void mal_bind_other_threads(void);

/* So may the calling thread, which has just begun. */
void mal_bind_new_thread(void);

/* Our CPUs are others than before: the next mal_bind_team must look at every thread. */
void mal_bind_outdate(void);

/* The runtime may have moved the threads: forget where they are. */
void mal_bind_forget(void);

/*
 * Send a thread of rank BORROWER from CPU to a CPU that this rank still uses. Any thread may call it.
 * Returns the number of threads sent away.
 */
unsigned int mal_bind_evict(unsigned int borrower, uint32_t cpu);

/* What came of an attempt to spread another rank's team. */
enum mal_spread {
	MAL_SPREAD_DONE,      /* a thread went */
	MAL_SPREAD_SATISFIED, /* every thread of the team has a CPU of its own */
	MAL_SPREAD_NOT_YET,   /* its threads are still starting */
};

/* Send a thread of rank BORROWER that shares its CPU with another one of its team to CPU. */
enum mal_spread mal_bind_spread(unsigned int borrower, uint32_t cpu);

#endif

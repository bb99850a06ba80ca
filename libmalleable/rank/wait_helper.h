/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait_helper.h: lend in a wait between whose polls the MPI library calls nothing of ours.
 *
 * A thread of ours, the helper, lends for the primary thread, which polls on its own CPU and keeps
 * that. The helper starts after the first wait that was long enough to lend and showed no poll.
 *
 * All functions: primary thread only, where not said otherwise.
 */
#pragma once

#include "libmalleable/rank/state/rank.h"

/* Before a wait whose polls are not seen: the thread needs no CPU in it if it BLOCKS. */
static inline void mal_wait_helper_blocks(struct mal_rank *rank, bool blocks)
{
	rank->helper_own.blocks = blocks;
}

/* After mal_wait_begin(): in this call no poll may be seen. */
void mal_wait_helper_begin(struct mal_rank *rank);

/* Before mal_wait_helper_begin(): the wait may well be long, so the helper is to look at it. */
void mal_wait_helper_expect(struct mal_rank *rank);

/* Any thread: another one than the primary waits (asleep.h). */
void mal_wait_helper_wake(struct mal_rank *rank);

/* A call begins that the helper, which has been started, is to look at. */
static inline void mal_wait_helper_number(struct mal_rank *rank)
{
	rank->helper_own.calls += MAL_WAIT_STATES;
	atomic_store(&rank->helper_own.wait, rank->helper.calls + MAL_WAIT_WAITS);
}

/* The same, to be looked at in time. */
static inline void mal_wait_helper_hand_over(struct mal_rank *rank)
{
	mal_wait_helper_number(rank);
	if (atomic_load(&rank->helper.rest))
		mal_wait_helper_wake(rank);
}

/* The call ends. Returns false if it was not numbered, or the helper acts for it. */
static inline bool mal_wait_helper_revoke(struct mal_rank *rank)
{
	uint32_t waits = rank->helper.calls + MAL_WAIT_WAITS;

	return atomic_compare_exchange_strong(&rank->helper_own.wait, &waits, rank->helper.calls);
}

/*
 * The primary thread is about to do what the helper may not disturb, such as a poll that is seen:
 * the wait goes on without the helper.
 */
void mal_wait_helper_withdraw(struct mal_rank *rank);

/* In place of mal_call_end(): the call returns, and no poll was seen. */
void mal_wait_helper_end(struct mal_rank *rank);

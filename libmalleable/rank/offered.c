/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * offered.c: a wait outside MPI that the program declares.
 *
 * Invariant: at its end, at a region, after a jump and when the thread ends the CPUs are back
 * (t/unit/test_wait_helper.c: declared_waits, threads_end_in_waits).
 */
#include "libmalleable/rank/offered.h"

#include <pthread.h>

#include "libmalleable/rank/asleep.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/listeners.h"
#include "libmalleable/rank/mpi_test_loops.h"
#include "libmalleable/rank/state/rank.h"
#include "libmalleable/rank/wait.h"
#include "libmalleable/rank/wait_helper.h"

/* About so many short waits are worth one that is timed. */
#define TIMED_EVERY 64

static pthread_key_t waits;

/* A thread that ends, of the program's or of a library's, waits no more. */
static void ended(void *rank)
{
	(void)rank;
	if (!mal_self.declared)
		return;
	mal_self.declared = 1;
	mal_offer_end();
	mal_threads_end_primary();
}

static void make_key(void)
{
	pthread_key_create(&waits, ended);
}

/* The outermost wait of the primary thread. */
static void begin(struct mal_rank *rank, bool blocks)
{
	if (mal_self.testing)
		mal_mpi_end_tests();
	mal_self.mpi_depth = 1;
	mal_wait_helper_expect(rank);
	mal_mpi_begin_hidden(rank, true, blocks);
}

/* That of another thread. One that polls runs: the rank lends nothing. */
static void begin_beside(struct mal_rank *rank, bool blocks)
{
	mal_self.mpi_depth = 1;
	if (!blocks)
		return;
	mal_asleep_begin(rank);
	mal_wait_helper_wake(rank);
}

int mal_offer_begin(struct mal_rank *rank, bool blocks)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	/* One that was left by a jump has ended, whatever it had begun. */
	mal_self.declared = mal_self.mpi_depth ? mal_self.declared + 1 : 1;
	if (mal_self.declared == 1) {
		pthread_once(&once, make_key);
		pthread_setspecific(waits, rank);
		/* No frame is above: calls of MPI are part of the wait. */
		mal_self.mpi_frame = 0;
		(mal_self.primary ? begin : begin_beside)(rank, blocks);
	}
	if (!mal_self.primary)
		return mal_self.offers ? mal_offer_count(rank, true) : 0;
	return mal_offer_count(rank, rank->helper.blocks);
}

/*
 * If it was a short one, so were those before that were not timed. Behind a long one all are timed:
 * their CPUs are lent in time.
 */
static void end(struct mal_rank *rank)
{
	uint64_t before = rank->slot->count.mpi, took;
	unsigned int untimed = rank->declared.drawn - rank->declared.left;

	mal_mpi_leave(false);
	took = rank->slot->count.mpi - before;
	rank->declared_own.ticks += took;
	if (took <= rank->lend.after) {
		mal_mpi_owe(rank, untimed * took);
		rank->declared_own.ticks += untimed * took;
		untimed = 0;
	}
	rank->declared_own.left = untimed || rank->helper.eager || mal_listeners_any()
					  ? 0
					  : mal_mpi_draw(&rank->declared_own.seed, TIMED_EVERY);
	rank->declared_own.drawn = rank->declared.left + untimed;
}

void mal_offer_time_next(struct mal_rank *rank)
{
	rank->declared_own.drawn -= rank->declared.left;
	rank->declared_own.left = 0;
}

bool mal_offer_end(void)
{
	bool was = mal_self.declared && mal_self.mpi_depth;

	if (was && !--mal_self.declared) {
		mal_self.mpi_depth = 1;
		if (mal_self.primary)
			end(&mal);
		else
			mal_mpi_leave(false);
		if (mal_self.offers)
			mal_asleep_end(&mal);
	}
	return was;
}

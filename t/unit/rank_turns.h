/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rank_turns.h: several ranks in one process, each with what the rank library knows in it, and
 * threads of theirs that take turns.
 *
 * Each thread is a coroutine that gives way wherever another one may do something that matters:
 * before a CPU's word changes, and around the binding of a thread. Who goes on is for the test to
 * say, so that a schedule is the same each time.
 */
#pragma once

#include "t/unit/rank_fixture.h"

#define TURNS_RANKS 3u
#define TURNS_THREADS 8u
/* The controller's thread, after those of the ranks. */
#define TURNS_CONTROLLER (TURNS_RANKS * TURNS_THREADS)

struct turns_rank {
	struct mal_rank known;
	bool killed;
	bool left;
	bool in_region;
	bool in_mpi;
	unsigned int team; /* of the region */
};

/* A thread, by rank * TURNS_THREADS + its number in the team. */
struct turns_thread {
	struct mal_thread self;
	bool busy;	/* in the middle of something */
	bool computing; /* in the team of a region */
};

extern struct turns_rank turns_rank[TURNS_RANKS];
extern struct turns_thread turns_thread[TURNS_CONTROLLER + 1];

/* Begin with EACH CPUs a rank. */
void turns_open(unsigned int each);
void turns_close(void);

/* What a rank's primary thread may do. */
void turns_begin_region(unsigned int rank, unsigned int where, unsigned int clause);
void turns_end_region(unsigned int rank);
void turns_enter_mpi(unsigned int rank);
void turns_poll(unsigned int rank);
void turns_leave_mpi(unsigned int rank, bool boundary);
void turns_leave(unsigned int rank);

/* A thread of the rank's team enters the region, or leaves it. */
void turns_begin_thread(unsigned int rank, unsigned int thread);
void turns_end_thread(unsigned int rank, unsigned int thread);

/* The rank is killed, wherever its threads are; and what the controller does when it sees that. */
void turns_kill(unsigned int rank);
void turns_recover(void);

/* Thread THREAD goes on until it gives way or is done. */
void turns_go_on(unsigned int thread);

/* As if all of these ran to their ends at once: no thread is busy afterwards. */
bool turns_is_quiet(void);

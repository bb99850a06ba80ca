/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait.h: what the MPI interposition library tells libmalleable: a thread enters or leaves a
 * blocking MPI call.
 *
 * All functions may be called from any thread, and do nothing in a process that is no rank.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mal_rank;

/* How the MPI library polls while a call waits. */
enum mal_mpi_polling {
	MAL_MPI_POLLS_HIDDEN, /* or only some are: see wait_helper.h */
	MAL_MPI_POLLS_YIELD,  /* it calls sched_yield() between polls because we made it do so */
	/* it does so because the user asked: the CPU is really yielded */
	MAL_MPI_POLLS_YIELD_WANTED,
	MAL_MPI_POLLS_SEEN, /* mal_mpi_poll() is called between polls */
};

/* Whether this process is inside a balanced step: only there anything is set or said. */
bool mal_mpi_is_inside(void);

/* Whether this rank prints what is the same in all ranks, of which users are told. */
bool mal_mpi_may_tell(void);

/* MPI is initialised in this process. */
void mal_mpi_init(enum mal_mpi_polling polling);

/*
 * Around every blocking call; calls nest. COLLECTIVE: the call is over a communicator. BOUNDARY: it
 * was a collective of all ranks of the step.
 */
void mal_mpi_enter(bool collective);
void mal_mpi_leave(bool boundary);

/*
 * For the primary thread outside regions, whose outermost call begins: polls in it are hidden. It
 * needs no CPU meanwhile if it BLOCKS.
 */
void mal_mpi_begin_hidden(struct mal_rank *rank, bool collective, bool blocks);

/*
 * Waits that were not timed took TICKS, which has counted as serial time: from now on as what it
 * is, but for what a sample had of it. Returns how much of what is owed could be corrected. And
 * draw after how many such ones to time the next: one in EVERY.
 */
uint64_t mal_mpi_owe(struct mal_rank *rank, uint64_t ticks);
unsigned int mal_mpi_draw(unsigned int *seed, unsigned int every);

/* The calling thread left MPI without returning: by an exception or longjmp(), for example. */
void mal_mpi_unwound(void);

/*
 * Detect that from FRAME, the frame of a function called while the thread seems to be inside MPI.
 */
void mal_mpi_look_back(const void *frame);

/*
 * Before MPI_Finalize, in place of mal_mpi_enter(). The first call does what needs a working MPI.
 * If that takes long it calls PROGRESS, by which MPI serves what other ranks may wait for.
 */
void mal_mpi_finalize(void (*progress)(void));

/*
 * Behind it, in place of mal_mpi_leave(): the call was a wait until the last rank came, where that
 * is known; what MPI does then to end counts as nothing.
 */
void mal_mpi_finalized(void);

/* Between two polls of a waiting call. Does nothing in a thread that is in none. */
void mal_mpi_poll(void);

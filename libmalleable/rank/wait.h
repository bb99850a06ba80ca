/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait.h: between the MPI interposition library and libmalleable: a thread enters or leaves a blocking MPI call. */
#ifndef MAL_RANK_WAIT_H
#define MAL_RANK_WAIT_H

#include <stdbool.h>

/* How the MPI library polls while a call waits. */
enum mal_mpi_polling {
	MAL_MPI_POLLS_UNSEEN, /* waits are timed, but nothing is lent in them */
	MAL_MPI_POLLS_YIELD,  /* it calls sched_yield() between polls */
	MAL_MPI_POLLS_SEEN,   /* mal_mpi_poll() is called between polls */
};

/* MPI is initialised in this process. */
void mal_mpi_init(enum mal_mpi_polling polling);

/* Around every blocking call; they nest. COLLECTIVE: over a communicator; BOUNDARY: it was that of all ranks of the step. */
void mal_mpi_enter(bool collective);
void mal_mpi_leave(bool boundary);

/*
 * As mal_mpi_enter, before MPI_Finalize; the first such call does what is to be done while MPI still works, and calls PROGRESS if that
 * takes long: it lets the MPI library go on with what others may wait for.
 */
void mal_mpi_finalize(void (*progress)(void));

/* Between two polls of a waiting call, in any thread; other calls do nothing. */
void mal_mpi_poll(void);

/*
 * A call returned that only looks whether there is anything (MPI_Test, MPI_Iprobe), and whether it was DONE. A rank that calls it
 * over and over again without doing anything else waits. The first calls of such a loop cost some instructions only.
 */
void mal_mpi_tested(bool done);

/* Such a wait is over if there was one: something else begins. Primary thread. */
void mal_mpi_end_tests(void);

#endif

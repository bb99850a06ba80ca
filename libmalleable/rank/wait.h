/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait.h: what the MPI interposition library tells libmalleable: a thread enters or leaves a
 * blocking MPI call.
 *
 * All functions may be called from any thread, and do nothing in a process that is no rank.
 */
#ifndef MAL_RANK_WAIT_H
#define MAL_RANK_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/* How the MPI library polls while a call waits. */
enum mal_mpi_polling {
	MAL_MPI_POLLS_UNSEEN, /* or only some are: see wait_helper.h */
	MAL_MPI_POLLS_YIELD,  /* it calls sched_yield() between polls because we made it do so */
	/* it does so because the user asked: the CPU is really yielded */
	MAL_MPI_POLLS_YIELD_WANTED,
	MAL_MPI_POLLS_SEEN, /* mal_mpi_poll() is called between polls */
};

/* Constructors run, those of libraries that the MPI one is loaded behind have. */
void mal_mpi_ready(void);

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

/* Between two polls of a waiting call. Does nothing in a thread that is in none. */
void mal_mpi_poll(void);

/*
 * A call that only tests (MPI_Test, MPI_Iprobe) returned; DONE: it found something. A rank that
 * does little but test is waiting (mpi_test_loops.c).
 */
void mal_mpi_tested(bool done);

/*
 * How many such calls the thread is inside: Open MPI polls there too. Below 0: in none, and the
 * next one begins with mal_mpi_test_begins(), which times it.
 */
extern __thread signed char mal_mpi_in_test __attribute__((tls_model("initial-exec")));
void mal_mpi_test_begins(void);

/*
 * A blocking call begins in a loop of tests that is a wait; WAIT: the call is one by itself, and
 * ends the loop. Returns whether it belongs to the loop until it waits. Primary thread.
 */
bool mal_mpi_tests_take(bool wait);

/* The program itself yielded its CPU for so long. Primary thread. */
void mal_mpi_yielded(uint64_t ticks);

/* Something else begins: a wait by testing is over. Primary thread. */
void mal_mpi_end_tests(void);

/* jump.c: resolve longjmp() and its like before anything may jump, such as a signal handler. */
void mal_jump_open(void);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi_test_loops.h: loops of MPI_Test, MPI_Iprobe and the like. A rank that does little else in one
 * is waiting. Blocking calls that return at once belong to the loop.
 *
 * All functions do nothing in a process that is no rank.
 *
 * Invariant: a loop that computes between its tests is no wait (t/unit/test_team.c:
 * short_work_between_tests_counts).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * How many calls that only test the thread is inside: Open MPI polls there too. Below 0: in none,
 * and the next one begins with mal_mpi_test_begins(), which times it.
 */
extern __thread signed char mal_mpi_in_test __attribute__((tls_model("initial-exec")));
void mal_mpi_test_begins(void);

/* Such a call returned; DONE: it found something. */
void mal_mpi_tested(bool done);

/*
 * A blocking call begins in a loop of tests that is a wait; WAIT: the call is one by itself, and
 * ends the loop. Returns whether it belongs to the loop until it waits. Primary thread.
 */
bool mal_mpi_tests_take(bool wait);

/* The program itself yielded its CPU for so long. Primary thread. */
void mal_mpi_yielded(uint64_t ticks);

/* Something else begins: a wait by testing is over. Primary thread. */
void mal_mpi_end_tests(void);

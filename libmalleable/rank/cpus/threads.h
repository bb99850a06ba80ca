/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * threads.h: the threads that the program creates itself.
 *
 * A new thread inherits the CPUs of its creator, which is one CPU if we bound that. Start it on all
 * CPUs that its rank uses instead, and count it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mal_rank;

/*
 * The largest number of threads that were alive at one time since the last call: those made by
 * pthread_create(), and the primary one. Thread safe.
 */
unsigned int mal_threads_peak(void);

/*
 * Start a detached thread of the library's own: it is not counted, and gets no signals. Returns
 * whether it was started.
 */
bool mal_threads_start_own(void *(*function)(void *));

/*
 * Start one in the background: it may use any CPU of the step. There is one at a time. Returns
 * whether it was started, and then whether it is at work. Primary thread.
 */
bool mal_threads_start_background(void *(*function)(void *));
bool mal_threads_background_works(void);

/*
 * Its number, 0: none; and the CPU time that all such threads had, never less than before.
 */
int32_t mal_threads_background_tid(void);
uint64_t mal_threads_background_ns(void);

/*
 * Whether the system lets this process create the threads missing in a team of TEAM, with stacks of
 * STACK bytes (0: the usual size), and SPARE more, at once (RLIMIT_NPROC, RLIMIT_AS, the pids
 * controller of its cgroup). Creates them to find out, about 20 us each; if that fails nobody under
 * the same limit can create a thread for that time. Primary thread.
 */
bool mal_threads_have_room(const struct mal_rank *rank, unsigned int team, unsigned int spare,
			   size_t stack);

/* The calling thread is the primary one: it is none of those that the program has beside it. */
void mal_threads_spare_self(void);

/* The calling thread ends: if it is the primary one, and lends nothing, another may follow it. */
void mal_threads_end_primary(void);

/*
 * MPI is initialised: do not count the threads alive now that are not in the team, which are MPI's
 * own.
 */
void mal_threads_ignore(const struct mal_rank *rank);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * threads.h: the threads that a program makes itself. A new thread inherits the CPUs of the one that makes it, and that is one
 * CPU where we have bound it: it starts on all CPUs that its rank uses instead. And they are counted.
 */
#ifndef MAL_RANK_THREADS_H
#define MAL_RANK_THREADS_H

#include <stdbool.h>

/* The most threads made by pthread_create that lived at one time since the last call, and the primary one. Thread safe. */
unsigned int mal_threads_peak(void);

/* MPI has been initialised: those that live now, besides the team, are its helpers and do not count. */
void mal_threads_ignore(void);

/*
 * Has the program threads that neither OpenMP nor MPI made? They may compute while the primary thread waits in MPI, so its CPUs are
 * not idle then. Threads made by clone(2) directly are not seen.
 */
bool mal_threads_are_foreign(void);

#endif

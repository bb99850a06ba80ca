/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* foreign.h: threads of the program that neither OpenMP nor MPI started. */
#ifndef MAL_RANK_FOREIGN_H
#define MAL_RANK_FOREIGN_H

#include <stdbool.h>

/* MPI has been initialised: the threads that exist now are its helpers. */
void mal_foreign_baseline(void);

/*
 * Has the program threads of its own? They may compute while the primary thread waits in MPI, so its CPUs are not idle then.
 * Looked up at most every 100 ms.
 */
bool mal_foreign_threads(void);

#endif

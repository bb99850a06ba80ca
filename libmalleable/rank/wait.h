/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait.h: between the MPI interposition library and libmalleable: a thread enters or leaves a blocking MPI call. */
#ifndef MAL_RANK_WAIT_H
#define MAL_RANK_WAIT_H

#include <stdbool.h>

/* MPI is initialised in this process. Calls sched_yield() between polls: POLLS_YIELD. */
void mal_mpi_init(bool polls_yield);

/* Around every blocking call; they nest. BOUNDARY: it was a collective call over all ranks of the step. */
void mal_mpi_enter(void);
void mal_mpi_leave(bool boundary);

#endif

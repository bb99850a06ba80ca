/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * next.h: the next definition of an MPI function behind ours (another tool's, or the MPI library's), and what we must know
 * of the MPI library: Open MPI, or one with MPICH's binary interface (MPICH, Intel MPI, MVAPICH, Cray; mpich.org/abi).
 */
#ifndef MAL_RANK_MPI_NEXT_H
#define MAL_RANK_MPI_NEXT_H

#include <stdbool.h>

#include "libmalleable/rank/mpi/words.h"

/* The function's address; ends the program with one line if there is none (it could not have been called). */
void *mal_mpi_next(const char *name);

/* True if the communicator COMM, as passed in C, is as large as MPI_COMM_WORLD: a collective call on it is a boundary. */
bool mal_mpi_is_world(mpi_word comm);

/* The same for a Fortran handle. */
bool mal_mpi_is_world_fortran(const int *comm);

/* Let the MPI library make progress, without any other effect; between its initialisation and its end. */
void mal_mpi_progress(void);

/* MPI is about to be initialised. */
void mal_mpi_before_init(void);

/* MPI has just been initialised; may be called twice (a Fortran binding may call the C one). */
void mal_mpi_after_init(void);

#endif

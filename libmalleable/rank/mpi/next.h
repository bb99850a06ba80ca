/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* next.h: the next definition of an MPI function behind ours: another tool's, or the MPI library's. */
#ifndef MAL_RANK_MPI_NEXT_H
#define MAL_RANK_MPI_NEXT_H

#include <mpi.h>
#include <stdbool.h>

/* The function's address; ends the program with one line if there is none (it could not have been called). */
void *mal_mpi_next(const char *name);

/* True if COMM is as large as MPI_COMM_WORLD: a collective call on it is a boundary of all ranks. */
bool mal_mpi_is_world(MPI_Comm comm);

/* The same for a Fortran handle. */
bool mal_mpi_is_world_fortran(const MPI_Fint *comm);

/* MPI has just been initialised. */
void mal_mpi_after_init(void);

/* MPI is about to be initialised. */
void mal_mpi_before_init(void);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* start.h: MPI starts: identify the library and its world. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "libmalleable/rank/mpi/words.h"

/* Size of a handle in C, in bytes. */
extern size_t mal_mpi_handle_size __attribute__((visibility("hidden")));

/*
 * Whether the communicator COMM, as passed in C, has as many processes as MPI_COMM_WORLD: a
 * collective call on it is a boundary.
 */
bool mal_mpi_is_world(mpi_word comm);

/* The same for a Fortran handle. */
bool mal_mpi_is_world_fortran(const int *comm);

/* Let the MPI library make progress, without any other effect. Only while it is initialised. */
void mal_mpi_progress(void);

/* Mark a boundary that no blocking call of all ranks made. */
void mal_mpi_pass_boundary(void);

/* MPI, a session of it, or its tool interface is about to be initialised. */
void mal_mpi_before_init(void);

/* MPI is initialised. May be called twice, by a Fortran binding and by the C one that it calls. */
void mal_mpi_after_init(void);

/* The same for a session, whose handle is at SESSION. */
void mal_mpi_after_session_init(const void *session);
void mal_mpi_after_session_init_fortran(const int *session);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * next.h: the next definition of an MPI function after ours: another tool's, or the MPI library's.
 *
 * Thread safe.
 */
#pragma once

/*
 * The function's address. If no MPI library has it, prints a line and returns a function that fails
 * (MPI_ERR_OTHER).
 */
void *mal_mpi_next(const char *name);

/* The address of a function or data object, NULL if no MPI library has it. */
void *mal_mpi_find(const char *name);

/* The same of any library, with a symbol of VERSION; NULL: of the default one. */
void *mal_mpi_find_version(const char *name, const char *version);

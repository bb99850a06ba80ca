/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * multiple.c: preloaded library that makes MPI_Init_thread() allow calls by several threads, for a
 * peer whose own thread calls MPI. Open MPI's MPI_Init() reads OMPI_MPI_THREAD_LEVEL.
 */
#include <dlfcn.h>

/* MPI_THREAD_MULTIPLE of Open MPI and MPICH. */
static int multiple = 3;

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
void mpi_init_thread_(int *required, int *provided, int *error);
void mpi_init_thread_f08_(int *required, int *provided, int *error);

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int (*next)(int *, char ***, int, int *) = dlsym(RTLD_NEXT, "MPI_Init_thread");

	(void)required;
	return next(argc, argv, multiple, provided);
}

static void init_in_fortran(const char *name, int *provided, int *error)
{
	void (*next)(int *, int *, int *) = dlsym(RTLD_NEXT, name);

	next(&multiple, provided, error);
}

void mpi_init_thread_(int *required, int *provided, int *error)
{
	(void)required;
	init_in_fortran("mpi_init_thread_", provided, error);
}

void mpi_init_thread_f08_(int *required, int *provided, int *error)
{
	(void)required;
	init_in_fortran("mpi_init_thread_f08_", provided, error);
}

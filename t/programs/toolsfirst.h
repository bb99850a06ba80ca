/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* toolsfirst.h: included before a program, to initialise MPI's tool interface before MPI. */
#include <mpi.h>

static inline int tools_first(int *argc, char ***argv)
{
	int provided;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	return MPI_Init(argc, argv);
}

static inline int tools_first_thread(int *argc, char ***argv, int required, int *provided)
{
	MPI_T_init_thread(MPI_THREAD_SINGLE, provided);
	return MPI_Init_thread(argc, argv, required, provided);
}

#define MPI_Init tools_first
#define MPI_Init_thread tools_first_thread

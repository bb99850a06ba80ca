/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fortran.c: the Fortran bindings of the blocking MPI calls (mpif.h, use mpi): all arguments are addresses.
 *
 * Open MPI's Fortran functions call the PMPI_ names of C, so the C wrappers do not see them; MPICH's call the MPI_
 * names, and then both see the call, which nests.
 */
#include <mpi.h>

#include "libmalleable/rank/mpi/next.h"
#include "libmalleable/rank/wait.h"

#define PARAMETERS_2 void *a0, void *a1
#define PARAMETERS_3 PARAMETERS_2, void *a2
#define PARAMETERS_4 PARAMETERS_3, void *a3
#define PARAMETERS_5 PARAMETERS_4, void *a4
#define PARAMETERS_6 PARAMETERS_5, void *a5
#define PARAMETERS_7 PARAMETERS_6, void *a6
#define PARAMETERS_8 PARAMETERS_7, void *a7
#define PARAMETERS_9 PARAMETERS_8, void *a8
#define PARAMETERS_10 PARAMETERS_9, void *a9
#define PARAMETERS_13 PARAMETERS_10, void *a10, void *a11, void *a12
#define ARGUMENTS_2 a0, a1
#define ARGUMENTS_3 ARGUMENTS_2, a2
#define ARGUMENTS_4 ARGUMENTS_3, a3
#define ARGUMENTS_5 ARGUMENTS_4, a4
#define ARGUMENTS_6 ARGUMENTS_5, a5
#define ARGUMENTS_7 ARGUMENTS_6, a6
#define ARGUMENTS_8 ARGUMENTS_7, a7
#define ARGUMENTS_9 ARGUMENTS_8, a8
#define ARGUMENTS_10 ARGUMENTS_9, a9
#define ARGUMENTS_13 ARGUMENTS_10, a10, a11, a12

#define FORWARD(name, count, boundary) \
	void mpi_##name##_(PARAMETERS_##count); \
	void mpi_##name##_(PARAMETERS_##count) \
	{ \
		static void (*next)(PARAMETERS_##count); \
\
		if (!next) \
			*(void **)&next = mal_mpi_next("mpi_" #name "_"); \
		mal_mpi_enter(); \
		next(ARGUMENTS_##count); \
		mal_mpi_leave(boundary); \
	}

#define WAIT(name, fortran, parameters, arguments, count) FORWARD(fortran, count, false)
#define OVER(name, fortran, parameters, arguments, count, position) \
	FORWARD(fortran, count, mal_mpi_is_world_fortran(a##position))

#include "libmalleable/rank/mpi/calls.h"

void mpi_init_(MPI_Fint *error);
void mpi_init_thread_(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error);
void mpi_finalize_(MPI_Fint *error);

void mpi_init_(MPI_Fint *error)
{
	void (*next)(MPI_Fint *);

	*(void **)&next = mal_mpi_next("mpi_init_");
	mal_mpi_before_init();
	next(error);
	if (*error == MPI_SUCCESS)
		mal_mpi_after_init();
}

void mpi_init_thread_(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error)
{
	void (*next)(const MPI_Fint *, MPI_Fint *, MPI_Fint *);

	*(void **)&next = mal_mpi_next("mpi_init_thread_");
	mal_mpi_before_init();
	next(required, provided, error);
	if (*error == MPI_SUCCESS)
		mal_mpi_after_init();
}

void mpi_finalize_(MPI_Fint *error)
{
	void (*next)(MPI_Fint *);

	*(void **)&next = mal_mpi_next("mpi_finalize_");
	mal_mpi_enter();
	next(error);
	mal_mpi_leave(false);
}

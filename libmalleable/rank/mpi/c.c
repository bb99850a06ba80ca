/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* c.c: the C bindings of the blocking MPI calls. */
#include <mpi.h>

#include "libmalleable/rank/mpi/next.h"
#include "libmalleable/rank/wait.h"

#define FORWARD(name, parameters, arguments, boundary) \
	int MPI_##name parameters \
	{ \
		static int(*next) parameters; \
		int result; \
\
		if (!next) \
			*(void **)&next = mal_mpi_next("MPI_" #name); \
		mal_mpi_enter(); \
		result = next arguments; \
		mal_mpi_leave(boundary); \
		return result; \
	}

#define WAIT(name, fortran, parameters, arguments, count) FORWARD(name, parameters, arguments, false)
#define OVER(name, fortran, parameters, arguments, count, position) \
	FORWARD(name, parameters, arguments, mal_mpi_is_world(comm))

#include "libmalleable/rank/mpi/calls.h"

int MPI_Init(int *argc, char ***argv)
{
	int (*next)(int *, char ***);
	int result;

	*(void **)&next = mal_mpi_next("MPI_Init");
	mal_mpi_before_init();
	result = next(argc, argv);
	if (result == MPI_SUCCESS)
		mal_mpi_after_init();
	return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int (*next)(int *, char ***, int, int *);
	int result;

	*(void **)&next = mal_mpi_next("MPI_Init_thread");
	mal_mpi_before_init();
	result = next(argc, argv, required, provided);
	if (result == MPI_SUCCESS)
		mal_mpi_after_init();
	return result;
}

int MPI_Finalize(void)
{
	int (*next)(void);
	int result;

	*(void **)&next = mal_mpi_next("MPI_Finalize");
	mal_mpi_enter();
	result = next();
	mal_mpi_leave(false);
	return result;
}

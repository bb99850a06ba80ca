/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* c.c: the C bindings of the blocking MPI calls. */
#include "libmalleable/rank/mpi/next.h"
#include "libmalleable/rank/mpi/words.h"
#include "libmalleable/rank/wait.h"

#define FORWARD(name, count, boundary) \
	int MPI_##name(PARAMETERS_##count); \
	int MPI_##name(PARAMETERS_##count) \
	{ \
		static int (*next)(PARAMETERS_##count); \
		int result; \
\
		if (!next) \
			*(void **)&next = mal_mpi_next("MPI_" #name); \
		mal_mpi_enter(); \
		result = next(ARGUMENTS_##count); \
		mal_mpi_leave(boundary); \
		return result; \
	}

#define WAIT(name, fortran, count) FORWARD(name, count, false)
#define TEXT(name, fortran, count, texts) FORWARD(name, count, false)
#define OVER(name, fortran, count, position) FORWARD(name, count, mal_mpi_is_world(a##position))

#define TEST(name, fortran, count, position) \
	int MPI_##name(PARAMETERS_##count); \
	int MPI_##name(PARAMETERS_##count) \
	{ \
		static int (*next)(PARAMETERS_##count); \
		int result; \
\
		if (!next) \
			*(void **)&next = mal_mpi_next("MPI_" #name); \
		result = next(ARGUMENTS_##count); \
		mal_mpi_tested(*(const int *)a##position != 0); \
		return result; \
	}

#include "libmalleable/rank/mpi/calls.h"

FORWARD(Finalize, 1, false)

int MPI_Init(PARAMETERS_2);
int MPI_Init_thread(PARAMETERS_4);

int MPI_Init(PARAMETERS_2)
{
	int (*next)(PARAMETERS_2);
	int result;

	*(void **)&next = mal_mpi_next("MPI_Init");
	mal_mpi_before_init();
	result = next(ARGUMENTS_2);
	if (result == 0)
		mal_mpi_after_init();
	return result;
}

int MPI_Init_thread(PARAMETERS_4)
{
	int (*next)(PARAMETERS_4);
	int result;

	*(void **)&next = mal_mpi_next("MPI_Init_thread");
	mal_mpi_before_init();
	result = next(ARGUMENTS_4);
	if (result == 0)
		mal_mpi_after_init();
	return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* c.c: the C bindings of the blocking MPI calls. */
#include "libmalleable/rank/mpi/next.h"
#include "libmalleable/rank/mpi/words.h"
#include "libmalleable/rank/wait.h"

/* BEFORE and AFTER the next definition of MPI_NAME; RESULT is what that returned. */
#define DEFINE(name, count, before, after) \
	int MPI_##name(PARAMETERS_##count); \
	int MPI_##name(PARAMETERS_##count) \
	{ \
		static int (*next)(PARAMETERS_##count); \
		int result; \
\
		if (!next) \
			*(void **)&next = mal_mpi_next("MPI_" #name); \
		before; \
		result = next(ARGUMENTS_##count); \
		after; \
		return result; \
	}
#define FORWARD(name, count, collective, boundary) \
	DEFINE(name, count, mal_mpi_enter(collective), mal_mpi_leave(boundary))

#define WAIT(name, fortran, count) FORWARD(name, count, false, false)
#define TEXT(name, fortran, count, texts) FORWARD(name, count, false, false)
#define OVER(name, fortran, count, position) FORWARD(name, count, true, mal_mpi_is_world(a##position))
#define TEST(name, fortran, count, position) \
	DEFINE(name, count, (void)0, mal_mpi_tested(*(const int *)a##position != 0))

#include "libmalleable/rank/mpi/calls.h"

DEFINE(Finalize, 1, mal_mpi_finalize(mal_mpi_progress), mal_mpi_leave(false))
DEFINE(Init, 2, mal_mpi_before_init(), result ? (void)0 : mal_mpi_after_init())
DEFINE(Init_thread, 4, mal_mpi_before_init(), result ? (void)0 : mal_mpi_after_init())

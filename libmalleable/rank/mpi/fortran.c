/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fortran.c: the Fortran bindings of the blocking MPI calls: mpif.h and use mpi (mpi_x_), use mpi_f08 (mpi_x_f08_, and
 * mpi_x_f08ts_ where MPICH passes choice buffers by descriptor). All arguments are addresses.
 *
 * Open MPI's Fortran functions call the PMPI_ names of C, so the C wrappers do not see them; MPICH's call the MPI_
 * names, and then both see the call, which nests.
 */
#include "libmalleable/rank/mpi/next.h"
#include "libmalleable/rank/mpi/words.h"
#include "libmalleable/rank/wait.h"

/* Arguments of the Fortran form of a call with so many in C: one more, and lengths of texts behind. */
#define WITH_ERROR_1 2
#define WITH_ERROR_2 3
#define WITH_ERROR_3 4
#define WITH_ERROR_4 5
#define WITH_ERROR_5 6
#define WITH_ERROR_6 7
#define WITH_ERROR_7 8
#define WITH_ERROR_8 9
#define WITH_ERROR_9 10
#define WITH_ERROR_10 11
#define WITH_ERROR_12 13
#define WITH_TEXT_5_1 7
#define WITH_TEXT_6_1 8
#define WITH_TEXT_8_2 11
#define WITH_TEXT_9_2 12

#define DEFINE_(function, count, before, after) \
	void function(PARAMETERS_##count); \
	void function(PARAMETERS_##count) \
	{ \
		static void (*next)(PARAMETERS_##count); \
\
		if (!next) \
			*(void **)&next = mal_mpi_next(#function); \
		before; \
		next(ARGUMENTS_##count); \
		after; \
	}
#define DEFINE(function, count, before, after) DEFINE_(function, count, before, after)
#define ALL_BINDINGS(name, count, before, after) \
	DEFINE(mpi_##name##_, count, before, after) \
	DEFINE(mpi_##name##_f08_, count, before, after) \
	DEFINE(mpi_##name##_f08ts_, count, before, after)
#define FORWARD(name, count, collective, boundary) \
	ALL_BINDINGS(name, count, mal_mpi_enter(collective), mal_mpi_leave(boundary))

#define WAIT(name, fortran, count) FORWARD(fortran, WITH_ERROR_##count, false, false)
#define TEXT(name, fortran, count, texts) FORWARD(fortran, WITH_TEXT_##count##_##texts, false, false)
#define OVER(name, fortran, count, position) \
	FORWARD(fortran, WITH_ERROR_##count, true, mal_mpi_is_world_fortran((const int *)a##position))
#define TEST(name, fortran, count, position) \
	ALL_BINDINGS(fortran, WITH_ERROR_##count, (void)0, mal_mpi_tested(*(const int *)a##position != 0))

#include "libmalleable/rank/mpi/calls.h"

ALL_BINDINGS(finalize, 1, mal_mpi_finalize(mal_mpi_progress), mal_mpi_leave(false))

/* ERROR is the address of an optional argument: 0 if it is not there. */
#define INIT(function, count, error) \
	DEFINE(function, count, mal_mpi_before_init(), error && *(const int *)error ? (void)0 : mal_mpi_after_init())

INIT(mpi_init_, 1, a0)
INIT(mpi_init_f08_, 1, a0)
INIT(mpi_init_thread_, 3, a2)
INIT(mpi_init_thread_f08_, 3, a2)

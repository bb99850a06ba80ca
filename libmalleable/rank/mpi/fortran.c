/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fortran.c: the Fortran bindings of the blocking MPI calls: mpif.h and use mpi (mpi_x_), use
 * mpi_f08 (mpi_x_f08_, and mpi_x_f08ts_ where MPICH passes choice buffers by descriptor). All
 * arguments are addresses.
 *
 * Invariant: a wait in a program in Fortran counts once (t/t2002-programs.t, t/t2006-builds.t).
 *
 * Open MPI's Fortran functions call the PMPI_ names of C, so the C wrappers do not see them.
 * MPICH's call the MPI_ names, so both wrappers see the call, which nests.
 */
#include "libmalleable/base/shown.h"
#include "libmalleable/rank/mpi/next.h"
#include "libmalleable/rank/mpi/requests.h"
#include "libmalleable/rank/mpi/sized.h"
#include "libmalleable/rank/mpi/start.h"
#include "libmalleable/rank/mpi/words.h"
#include "libmalleable/rank/wait.h"

#define DEFINE(function, parameters, arguments, before, after) \
	void function parameters MAL_SHOWN(#function); \
	MAL_SHOWN_AS(#function, "MALLEABLE"); \
	void function parameters \
	{ \
		static void(*next) parameters; \
\
		if (!next) \
			*(void **)&next = mal_mpi_next(#function); \
		before; \
		next arguments; \
		after; \
	}
#define ALL_BINDINGS(name, parameters, arguments, before, after) \
	DEFINE(mpi_##name##_, parameters, arguments, before, after) \
	DEFINE(mpi_##name##_f08_, parameters, arguments, before, after) \
	DEFINE(mpi_##name##_f08ts_, parameters, arguments, before, after)
/* The arguments of C and the error; and at the end the lengths of texts. */
#define CALL(name, count, before, after) \
	ALL_BINDINGS(name, (PARAMETERS_##count, mpi_word error), (ARGUMENTS_##count, error), \
		     before, after)
#define LENGTHS_1 mpi_word error, mpi_word length
#define LENGTHS_2 LENGTHS_1, mpi_word second
#define GIVEN_1 error, length
#define GIVEN_2 GIVEN_1, second

#define WAIT(name, fortran, count) CALL(fortran, count, ENTER(false), LEAVE(false))
#define TEXT(name, fortran, count, texts) \
	ALL_BINDINGS(fortran, (PARAMETERS_##count, LENGTHS_##texts), \
		     (ARGUMENTS_##count, GIVEN_##texts), ENTER(false), LEAVE(false))
#define OVER(name, fortran, count, position) \
	CALL(fortran, count, ENTER(true), LEAVE(mal_mpi_is_world_fortran((const int *)a##position)))
#define TEST(name, fortran, count, position) \
	CALL(fortran, count, ENTER_TEST, mal_mpi_tested(*(const int *)a##position != 0))

/* Requests: NUMBER of them at PLACE. All Fortran handles are integers. */
#define HANDLE sizeof(int)
#define NUMBER(a) (size_t)*(const int *)(a)
#define ASKS(number, place) uint32_t asked = mal_mpi_asks((const void *)(place), number, HANDLE)
#define WAITS(name, count, number, place, all) \
	CALL(name, count, ASKS(number, place); \
	     ENTER(asked != 0), LEAVE(mal_mpi_came(asked, HANDLE, all)))
#define TESTS(name, count, number, place, flag, all) \
	CALL(name, count, ASKS(number, place); \
	     ENTER_TEST, mal_mpi_tested(*(const int *)(flag) != 0); \
	     if (mal_mpi_came(asked, HANDLE, (all) && *(const int *)(flag))) \
		     mal_mpi_pass_boundary())
#define BEGINS(name, count, comm, at, persistent) \
	CALL(name, count, (void)0, \
	     if (mal_mpi_is_world_fortran((const int *)(comm))) \
		     mal_mpi_began((const void *)(at), HANDLE, persistent))
#define STARTS(name, count, number, place) \
	CALL(name, count, mal_mpi_started((const void *)(place), number, HANDLE), (void)0)

#define WAIT_ONE(name, fortran, count, at) WAITS(fortran, count, 1, a##at, true)
#define WAIT_MANY(name, fortran, count, number, at) \
	WAITS(fortran, count, NUMBER(a##number), a##at, count == 3)
#define TEST_ONE(name, fortran, count, at, flag) TESTS(fortran, count, 1, a##at, a##flag, true)
#define TEST_MANY(name, fortran, count, number, at, flag) \
	TESTS(fortran, count, NUMBER(a##number), a##at, a##flag, count == 4)
#define FREE(name, fortran, count, at) \
	CALL(fortran, count, ASKS(1, a##at), mal_mpi_forget_requests(asked))
#define START_ONE(name, fortran, count, at) STARTS(fortran, count, 1, a##at)
#define START_MANY(name, fortran, count, number, at) \
	STARTS(fortran, count, NUMBER(a##number), a##at)
#define BEGIN(name, fortran, count, comm, at) BEGINS(fortran, count, a##comm, a##at, false)
#define INIT(name, fortran, count, comm, at) BEGINS(fortran, count, a##comm, a##at, true)

/*
 * Fortran tells the two forms apart by argument types; libraries do not agree on a name of the
 * large-count one.
 */
#include "libmalleable/rank/mpi/blocking_calls.h"

ALL_BINDINGS(finalize, (PARAMETERS_1), (ARGUMENTS_1), mal_mpi_finalize(mal_mpi_progress),
	     mal_mpi_finalized())

/* ERROR is the address of an optional argument, 0 if that is absent. */
#define MPI_INIT(function, count, error) \
	DEFINE(function, (PARAMETERS_##count), (ARGUMENTS_##count), mal_mpi_before_init(), \
	       error && *(const int *)error ? (void)0 \
					    : (mal_mpi_after_init(), mal_mpi_sized_open()))

MPI_INIT(mpi_init_, 1, a0)
MPI_INIT(mpi_init_f08_, 1, a0)
MPI_INIT(mpi_init_thread_, 3, a2)
MPI_INIT(mpi_init_thread_f08_, 3, a2)

#define SESSION_INIT(function) \
	DEFINE(function, (PARAMETERS_4), (ARGUMENTS_4), mal_mpi_before_init(), \
	       a3 && *(const int *)a3 ? (void)0 \
				      : (mal_mpi_after_session_init_fortran((const int *)a2), \
					 mal_mpi_sized_open()))

SESSION_INIT(mpi_session_init_)
SESSION_INIT(mpi_session_init_f08_)
ALL_BINDINGS(session_finalize, (PARAMETERS_2), (ARGUMENTS_2), mal_mpi_enter(true),
	     mal_mpi_leave(false))

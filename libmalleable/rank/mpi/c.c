/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * c.c: the C bindings of the blocking MPI calls.
 *
 * Invariant: each call in which a rank can wait is a wait (t/t2007-calls.t).
 */
#include "libmalleable/base/shown.h"
#include "libmalleable/rank/mpi/next.h"
#include "libmalleable/rank/mpi/requests.h"
#include "libmalleable/rank/mpi/sized.h"
#include "libmalleable/rank/mpi/start.h"
#include "libmalleable/rank/mpi/words.h"
#include "libmalleable/rank/wait.h"

/* Calls BEFORE, the next definition of MPI_NAME and AFTER. RESULT is what the call returned. */
#define DEFINE(name, count, before, after) \
	int MPI_##name(PARAMETERS_##count) MAL_SHOWN("MPI_" #name); \
	MAL_SHOWN_AS("MPI_" #name, "MALLEABLE"); \
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
	DEFINE(name, count, ENTER(collective), LEAVE(boundary))

#define WAIT(name, fortran, count) FORWARD(name, count, false, false)
#define TEXT(name, fortran, count, texts) FORWARD(name, count, false, false)
#define OVER(name, fortran, count, position) \
	FORWARD(name, count, true, mal_mpi_is_world(a##position))
#define TEST(name, fortran, count, position) \
	DEFINE(name, count, ENTER_TEST, mal_mpi_tested(*(const int *)a##position != 0))

/* Requests: NUMBER of them at PLACE. */
#define ASKS(number, place) \
	uint32_t asked = mal_mpi_asks((const void *)(place), (size_t)(number), mal_mpi_handle_size)
#define CAME(all) mal_mpi_came(asked, mal_mpi_handle_size, all)
#define WAITS(name, count, number, place, all) \
	DEFINE(name, count, ASKS(number, place); ENTER(asked != 0), LEAVE(CAME(all)))
#define TESTS(name, count, number, place, flag, all) \
	DEFINE(name, count, ASKS(number, place); \
	       ENTER_TEST, mal_mpi_tested(*(const int *)(flag) != 0); \
	       if (CAME((all) && *(const int *)(flag))) mal_mpi_pass_boundary())

#define WAIT_ONE(name, fortran, count, at) WAITS(name, count, 1, a##at, true)
#define WAIT_MANY(name, fortran, count, number, at) \
	WAITS(name, count, (int)a##number, a##at, count == 3)
#define TEST_ONE(name, fortran, count, at, flag) TESTS(name, count, 1, a##at, a##flag, true)
#define TEST_MANY(name, fortran, count, number, at, flag) \
	TESTS(name, count, (int)a##number, a##at, a##flag, count == 4)
#define FREE(name, fortran, count, at) \
	DEFINE(name, count, ASKS(1, a##at), mal_mpi_forget_requests(asked))
#define START_ONE(name, fortran, count, at) \
	DEFINE(name, count, mal_mpi_started((const void *)a##at, 1, mal_mpi_handle_size), (void)0)
#define START_MANY(name, fortran, count, number, at) \
	DEFINE(name, count, \
	       mal_mpi_started((const void *)a##at, (size_t)(int)a##number, mal_mpi_handle_size), \
	       (void)0)
#define BEGINS(name, count, comm, at, persistent) \
	DEFINE(name, count, (void)0, \
	       if (!result && mal_mpi_is_world(a##comm)) \
		       mal_mpi_began((const void *)a##at, mal_mpi_handle_size, persistent))
#define BEGIN(name, fortran, count, comm, at) BEGINS(name, count, comm, at, false)
#define INIT(name, fortran, count, comm, at) BEGINS(name, count, comm, at, true)

/* NAME_c is in sized.c. */
#include "libmalleable/rank/mpi/blocking_calls.h"

DEFINE(Finalize, 1, mal_mpi_finalize(mal_mpi_progress), mal_mpi_finalized())
DEFINE(Init, 2, mal_mpi_before_init(),
       result ? (void)0 : (mal_mpi_after_init(), mal_mpi_sized_open()))
DEFINE(Init_thread, 4, mal_mpi_before_init(),
       result ? (void)0 : (mal_mpi_after_init(), mal_mpi_sized_open()))
DEFINE(Session_init, 3, mal_mpi_before_init(),
       result ? (void)0 : (mal_mpi_after_session_init((const void *)a2), mal_mpi_sized_open()))
DEFINE(Session_finalize, 1, mal_mpi_enter(true), mal_mpi_leave(false))
/* Reads Open MPI's parameters before MPI_Init does. */
DEFINE(T_init_thread, 2, mal_mpi_before_init(), (void)0)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * words.h: pass arguments on without knowing their types.
 *
 * MPI libraries differ in what a handle is (a pointer in Open MPI, an int in MPICH and its
 * relatives), so a wrapper compiled with one's mpi.h does not fit the other. No blocking call has
 * floating-point or structure arguments, and each integer or pointer takes one register or one
 * 8-byte stack slot in the C conventions of x86-64, AArch64, POWER and RISC-V under Linux. So
 * passing whole words fits them all.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/rank/mpi_test_loops.h"
#include "libmalleable/rank/wait.h"

#if UINTPTR_MAX != UINT64_MAX
#error "arguments are words of 64 bits here"
#endif

typedef uintptr_t mpi_word;

/*
 * Around an MPI call. An error handler of the program may throw a C++ exception; with -fexceptions
 * the cleanup runs then too.
 */
#define ENTER(collective) \
	bool inside __attribute__((cleanup(mal_mpi_cleanup))) = true; \
	mal_mpi_enter(collective)
#define LEAVE(boundary) \
	inside = false; \
	mal_mpi_leave(boundary)

#define ENTER_TEST \
	signed char *test __attribute__((cleanup(mal_mpi_cleanup_test), unused)) = \
		&mal_mpi_in_test; \
	if (__builtin_expect(++mal_mpi_in_test < 0, 0)) \
	mal_mpi_test_begins()

static inline void mal_mpi_cleanup_test(signed char *const *test)
{
	(void)test;
	mal_mpi_in_test--;
}

static inline void mal_mpi_cleanup(const bool *inside)
{
	if (*inside)
		mal_mpi_unwound();
}

#define PARAMETERS_0 void
#define PARAMETERS_1 mpi_word a0
#define PARAMETERS_2 PARAMETERS_1, mpi_word a1
#define PARAMETERS_3 PARAMETERS_2, mpi_word a2
#define PARAMETERS_4 PARAMETERS_3, mpi_word a3
#define PARAMETERS_5 PARAMETERS_4, mpi_word a4
#define PARAMETERS_6 PARAMETERS_5, mpi_word a5
#define PARAMETERS_7 PARAMETERS_6, mpi_word a6
#define PARAMETERS_8 PARAMETERS_7, mpi_word a7
#define PARAMETERS_9 PARAMETERS_8, mpi_word a8
#define PARAMETERS_10 PARAMETERS_9, mpi_word a9
#define PARAMETERS_11 PARAMETERS_10, mpi_word a10
#define PARAMETERS_12 PARAMETERS_11, mpi_word a11
#define ARGUMENTS_0
#define ARGUMENTS_1 a0
#define ARGUMENTS_2 ARGUMENTS_1, a1
#define ARGUMENTS_3 ARGUMENTS_2, a2
#define ARGUMENTS_4 ARGUMENTS_3, a3
#define ARGUMENTS_5 ARGUMENTS_4, a4
#define ARGUMENTS_6 ARGUMENTS_5, a5
#define ARGUMENTS_7 ARGUMENTS_6, a6
#define ARGUMENTS_8 ARGUMENTS_7, a7
#define ARGUMENTS_9 ARGUMENTS_8, a8
#define ARGUMENTS_10 ARGUMENTS_9, a9
#define ARGUMENTS_11 ARGUMENTS_10, a10
#define ARGUMENTS_12 ARGUMENTS_11, a11

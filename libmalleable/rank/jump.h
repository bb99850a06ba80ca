/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jump.h: notice longjmp() out of MPI, as from an error handler of the program. (No MPI library
 * jumps within a call.)
 *
 * Invariant: a thread that jumped out of MPI is in no call any more (t/unit/test_team.c:
 * jumps_leave_the_call).
 */
#pragma once

/* Resolve longjmp() and its like before anything may jump, such as a signal handler. */
void mal_jump_open(void);

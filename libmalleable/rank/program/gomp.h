/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gomp.h: what a program built for GCC's libgomp expects of the libomp that it runs on.
 *
 * Loops with schedule(runtime) share out work as libgomp does without OMP_SCHEDULE (libgomp
 * manual, "OMP_SCHEDULE"). libomp reads the variable after it has looked for a tool and before it
 * initialises that (kmp_runtime.cpp, __kmp_do_serial_initialize), so it stands in the environment
 * for that time alone: programs that this one starts do not see it.
 */
#ifndef MAL_RANK_PROGRAM_GOMP_H
#define MAL_RANK_PROGRAM_GOMP_H

/* The managed runtime looks for a tool. */
void mal_gomp_runtime_starts(void);

/* It initialises the tool. */
void mal_gomp_runtime_started(void);

#endif

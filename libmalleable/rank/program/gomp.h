/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gomp.h: what a program built for GCC's libgomp expects of the libomp that it runs on.
 *
 * Where the user's variables or the program's calls are such that the two would differ, it stays on
 * libgomp. libomp reads variables after it has looked for a tool and before it initialises that
 * (kmp_runtime.cpp, __kmp_do_serial_initialize), so what it is to find stands in the environment
 * for that time alone: programs that this one starts do not see it.
 */
#pragma once

#include <stdbool.h>

#include "libmalleable/core/segment.h"
#include "libmalleable/rank/program/runtime.h"

/* Whether CALLER is part of the libomp that runs in libgomp's place. */
bool mal_gomp_is_replacement(const void *caller);

/*
 * Whether the runtime that CALLER is part of may be the managed one: in a program whose libgomp was
 * replaced only the one in its place, though a library's own may start before.
 */
bool mal_gomp_manages(const void *caller);

/* Why the program keeps libgomp, though it might run on libomp; MAL_REASON_NONE: it does not. */
enum mal_mode_reason mal_gomp_kept(void);

/* Whether it keeps libgomp because libomp is nowhere. */
bool mal_gomp_is_alone(void);

/* Constructors run: what was left for that when the program began. Idempotent. */
void mal_gomp_open(void);

/* The managed runtime looks for a tool. */
void mal_gomp_runtime_starts(void);

/* It initialises the tool. */
void mal_gomp_runtime_started(void);

/*
 * libgomp itself, where RUNTIME is the libomp that runs in its place; NULL otherwise. It is loaded,
 * has read the user's variables, and runs no region: it has the program's clock.
 */
const struct mal_runtime *mal_gomp_original(const struct mal_runtime *runtime);

/*
 * A libgomp that was replaced has bound the first thread as soon as it was loaded, by OMP_PROC_BIND
 * and the like. The thread has its CPUs again: libomp takes these for all that there are, and binds
 * it itself.
 */
void mal_gomp_unbind(void);

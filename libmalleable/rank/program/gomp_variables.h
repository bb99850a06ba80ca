/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gomp_variables.h: the variables of OpenMP, which libgomp has read, as libomp is to find them.
 *
 * The two differ on much: OMP_NESTED=1, "dynamic, 4", units of sizes, lists of places. Values that
 * libgomp leaves out make libomp end the program, or are taken by it. So libomp gets none of the
 * user's own words where libgomp can be asked what it has made of them.
 */
#pragma once

#include "libmalleable/rank/program/runtime.h"

/* A copy of all of them, "NAME=VALUE" each, NULL behind the last. NULL: out of memory. */
char **mal_gomp_copy_variables(void);
void mal_gomp_free_variables(char **copy);

/* Those in COPY are set, and no others. */
void mal_gomp_put_variables(char **copy);

/* Set them for libomp so that it answers as LIBGOMP does. */
void mal_gomp_translate(const struct mal_runtime *libgomp);

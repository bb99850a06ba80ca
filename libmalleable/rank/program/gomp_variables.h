/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gomp_variables.h: the variables of OpenMP, which libgomp has read, as libomp is to find them.
 *
 * libomp finds them as the program began, whatever it has set since. Without OMP_SCHEDULE loops
 * with schedule(runtime) are dynamic, as libgomp has it.
 */
#pragma once

#include "libmalleable/rank/program/runtime.h"

/* A copy of all of them, "NAME=VALUE" each, NULL behind the last. NULL: out of memory. */
char **mal_gomp_copy_variables(void);
void mal_gomp_free_variables(char **copy);

/* Those in COPY are set, and no others. */
void mal_gomp_put_variables(char **copy);

/* Set them for libomp so that it does what LIBGOMP would. */
void mal_gomp_translate(const struct mal_runtime *libgomp);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * named_regions.h: parts of the program that it names, such as a solver, and what its rank did in
 * them. Primary thread only, outside parallel regions, calls of MPI and declared waits.
 *
 * All functions return what those of malleable.h do.
 */
#pragma once

#include "libmalleable/malleable.h"
#include "libmalleable/rank/state/rank.h"

int mal_named_find(const char *name);
int mal_named_begin(const struct mal_rank *rank, int number);
int mal_named_end(const struct mal_rank *rank, int number);
int mal_named_times(const struct mal_rank *rank, int number, struct malleable_times *times);

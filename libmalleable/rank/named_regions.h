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

int mal_named_find(const struct mal_rank *rank, const char *name);

/* Whether before it BEGINS or ends now waits outside MPI are to be looked at. */
bool mal_named_looks(int number, bool begins);
int mal_named_begin(const struct mal_rank *rank, int number);
int mal_named_end(const struct mal_rank *rank, int number);
int mal_named_times(const struct mal_rank *rank, int number, struct malleable_times *times);

/* A sample was given: what runs is counted up to it. */
void mal_named_sample(const struct mal_rank *rank);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bounds.h: what the program declares of its balancing: how many CPUs it can use, and that it is
 * not to be balanced for a while. Primary thread only, outside regions.
 */
#pragma once

#include <stdbool.h>

struct mal_rank;

/* The rank can use MAX CPUs from now on; 0: any number. */
void mal_bounds_limit(struct mal_rank *rank, unsigned int max);

/* Neither lend, borrow nor carry out plans until as many calls of enable. */
void mal_bounds_disable(struct mal_rank *rank);
/* Returns false if it was not disabled. */
bool mal_bounds_enable(struct mal_rank *rank);

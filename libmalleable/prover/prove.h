/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prove.h: whether the program's regions are classified, and what that says of each. prover/rank
 * finds out; a build without it has rank/no_prover.c, where nothing is known of any region.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * How a region is known: by its function, or where the call did not show that by what the call
 * returns to, with this bit.
 */
#define MAL_NO_FUNCTION ((uintptr_t)1 << 63)

struct mal_region_verdict {
	bool free;
	/* Free, but it may be right with one thread alone: a team of one must not grow. */
	bool alone;
	/* Free, but another number of threads may change the last bits of its results. */
	bool sums;
	/* The same holds as long as the process runs. Otherwise ask again each time. */
	bool stays;
};

/* Classify them unless it was asked not to (prove=no). Once, before the first region. */
void mal_prove(void);

/* What is known of the region KEY. Primary thread. */
struct mal_region_verdict mal_prove_region(const void *key);

/* It is bound and ran: the report names one. */
void mal_prove_note_bound(const void *key);

/* Whether all regions that the program may start are free. The report names one that is not. */
bool mal_prove_all_free(void);

/* The program was told 1 thread, or chose it: no team of it is ever larger. Any thread. */
void mal_prove_reported_one(void);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * length.h: how long a parallel region typically is. Busy CPUs interrupt some runs of a short one
 * for milliseconds, and their mean would be that of a long one. Primary thread only.
 *
 * What it typically takes is the least of its first runs, which pay for new threads and new memory.
 * From then on it doubles with a longer run and falls by a sixth with a shorter one, so that some
 * 20 % of the runs are longer: large runs among small ones count, and interrupted ones do not.
 */
#ifndef MAL_RANK_LENGTH_H
#define MAL_RANK_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

struct mal_length {
	uint64_t typical; /* ticks */
	unsigned int met; /* first runs so far */
};

/* Set lengths in ticks; regions below SHORT_REGION are short. Once, before the others. */
void mal_length_open(uint64_t short_region);

/*
 * A run of the region with this LENGTH took so many TICKS, on the rank's OWN CPUs if so: what it
 * takes otherwise is no typical length, unless nothing else is known.
 */
void mal_length_learn(struct mal_length *length, uint64_t ticks, bool own);

/* Whether short regions took most of the time in regions lately. */
bool mal_length_is_mostly_short(void);

/* Forget all, for tests. */
void mal_length_clear(void);

#endif

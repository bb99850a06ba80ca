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

/* Of runs whose length was known: their number, the ticks that they took, and typically take. */
struct mal_runs {
	uint64_t count, ticks, typical;
};

/* Set lengths in ticks. Once, before the others. */
void mal_length_open(void);

/*
 * A run of the region with this LENGTH took so many TICKS, on the rank's OWN CPUs if so: what it
 * takes otherwise is no typical length, unless nothing else is known.
 */
void mal_length_learn(struct mal_length *length, uint64_t ticks, bool own);

/* Whether the region ran often enough for its typical length to be known. */
bool mal_length_is_known(const struct mal_length *length);

/*
 * All runs so far whose length was known: of regions from their fourth run on, and of others, as if
 * they were one region, once these took long in sum.
 */
const struct mal_runs *mal_length_runs(void);

/* Forget all runs, for tests. */
void mal_length_clear(void);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * length.h: how long a parallel region typically is. Primary thread only.
 *
 * Busy CPUs interrupt some runs of a short region for milliseconds, and its mean would be that of a
 * long one. So typical is the least of its first runs, which pay for new threads and new memory.
 * From then on it grows by half with a longer run and falls by a tenth with a shorter one: some
 * 20 % of the runs are longer, so large runs among small ones count, and interrupted ones do not
 * (t/unit/test_sizing.c: interrupted_short_regions_share_nothing, of_several_sizes).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mal_length {
	uint64_t typical; /* ticks */
	unsigned int met; /* first runs so far */
	bool lasts;	  /* it is not short */
};

/* Set lengths in ticks; regions below SHORT_REGION are short. Once, before the others. */
void mal_length_open(uint64_t short_region);

/*
 * A run of the region with this LENGTH took so many TICKS, on the rank's OWN CPUs if so: what it
 * takes otherwise is no typical length, unless nothing else is known.
 */
void mal_length_learn(struct mal_length *length, uint64_t ticks, bool undisturbed);

/* Whether short regions took most of the time in regions lately. */
bool mal_length_is_mostly_short(void);

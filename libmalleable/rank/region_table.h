/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* region_table.h: what a rank learns of each of its parallel regions. Primary thread only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/rank/length.h"

/* Why a free region may be kept from having any team (struct mal_region_verdict). Bits. */
enum mal_region_facts { MAL_REGION_SUMS = 1, MAL_REGION_ALONE = 2 };

struct mal_region {
	const void *where;
	struct mal_length length;
	uint64_t usual;	   /* ticks, moving average */
	uint64_t heat;	   /* ticks in it, halved each time that its place is looked for */
	unsigned int runs; /* short ones */
	/* mal.prepared.number when it was last prepared and needed nothing of its own */
	uint32_t prepared;
	double work;  /* ticks times CPUs: average of runs that share none, and of shorter ones */
	double offer; /* moving average of the part of its time in which others waited */
	unsigned int offered_cpus;
	unsigned int left;	/* runs that it may share until one is alone */
	bool prepared_to_share; /* it might share when it was last prepared */
	/* it has a num_threads clause, or cannot get the number of threads that we choose */
	bool clause;
	bool free;     /* it cannot tell what team it has */
	uint8_t facts; /* bits of enum mal_region_facts */
};

/*
 * What is known of the region WHERE (as in region.h), classified where it is new. Where there is no
 * place left, the one of its places that cost the least time lately is forgotten for it.
 */
struct mal_region *mal_region_find(const void *where);

/* Forget all, for tests. */
void mal_region_table_clear(void);

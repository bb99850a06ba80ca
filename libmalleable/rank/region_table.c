/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region_table.c: what a rank learns of each of its parallel regions.
 *
 * Invariant: regions that take much time keep their places (t/unit/test_region.c:
 * long_loop_has_a_place_after_many_regions).
 */
#include "libmalleable/rank/region_table.h"

#include <string.h>

#include "libmalleable/prover/prove.h"

#define SLOTS 256u
#define PLACES 8u /* of a region, one after the other */

/*
 * In the address of a region whose object may be unloaded, or that another object may bind: it is
 * never that of the region that starts, so that each run looks what is known of it.
 */
#define PASSING ((uintptr_t)1 << 62)

/* Not in mal_rank: it is large, and for this file alone. */
static struct mal_region table[SLOTS];

static const void *passing(const void *where)
{
	return (const void *)((uintptr_t)where | PASSING);
}

static struct mal_region *classify(struct mal_region *entry, const void *where)
{
	struct mal_region_verdict verdict = mal_prove_region(where);
	unsigned int facts =
		(verdict.sums ? MAL_REGION_SUMS : 0u) | (verdict.alone ? MAL_REGION_ALONE : 0u);

	entry->where = verdict.stays ? where : passing(where);
	/* It was prepared as what it was. */
	if (entry->free != verdict.free || entry->facts != facts)
		entry->prepared = 0;
	entry->free = verdict.free;
	entry->facts = verdict.free ? (uint8_t)facts : 0;
	return entry;
}

/* A program may run through many regions once before it comes to those of its time loop. */
static struct mal_region *replace(size_t first)
{
	struct mal_region *coldest = &table[first % SLOTS];

	for (size_t i = 0; i < PLACES; i++) {
		struct mal_region *entry = &table[(first + i) % SLOTS];

		entry->heat /= 2;
		if (entry->heat < coldest->heat)
			coldest = entry;
	}
	memset(coldest, 0, sizeof(*coldest));
	return coldest;
}

struct mal_region *mal_region_find(const void *where)
{
	size_t first = (uintptr_t)where * UINT64_C(0x9e3779b97f4a7c15) >> 48;

	for (size_t i = 0; i < PLACES; i++) {
		struct mal_region *entry = &table[(first + i) % SLOTS];

		if (entry->where == where)
			return entry;
		if (!entry->where || entry->where == passing(where))
			return classify(entry, where);
	}
	return classify(replace(first), where);
}

void mal_region_table_clear(void)
{
	memset(table, 0, sizeof(table));
}

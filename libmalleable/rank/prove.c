/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prove.c: a region may have any team if it is proved that it cannot tell, and every other one has
 * exactly the team that the program knows of. What the program was told elsewhere matters no more,
 * as long as it was not told 1. Programs that cannot know any number need no proof.
 */
#include "libmalleable/rank/prove.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/core/env.h"
#include "libmalleable/rank/attach.h"
#include "libmalleable/rank/program/regions.h"
#include "libmalleable/rank/state/state.h"

void mal_prove(void)
{
	const char *wish = getenv(MAL_ENV_PROVE), *trouble = NULL;
	uint64_t begin = mal_ticks();

	/* What the user says of the mode stands above what can be proved. */
	if (!wish || mal.mode != MAL_MODE_AUTO || mal.observe || mal.proofs.on)
		return;
	mal.proofs.strict = strcmp(wish, "strict") == 0;
	mal.proofs.on = mal_regions_prove(mal.proofs.strict, &trouble);
	/* Nobody asked for the default: then the report says it, where it matters. */
	if (trouble && mal.proofs.strict)
		mal_warn_once("prove=strict: %s: %s",
			      mal.proofs.on ? "not all regions are known" : "no region is known",
			      trouble);
	if (trouble && !mal.proofs.on)
		strncpy(mal.slot->bound, trouble, sizeof(mal.slot->bound) - 1);
	atomic_store(&mal.slot->proves, mal.proofs.on ? MAL_PROVES : MAL_PROVES_NOT);
	mal_count(&mal.slot->count.own, mal_ticks() - begin);
}

void mal_prove_told_one(void)
{
	if (!mal.proofs.on)
		return;
	atomic_store(&mal.proofs.told_one, true);
	atomic_store(&mal.slot->proves, MAL_PROVES_ONE);
}

bool mal_prove_is_free(const void *where)
{
	const char *why;

	return mal_region_is_free(where, &why);
}

bool mal_prove_counts(const void *where)
{
	return mal_region_counts(where);
}

void mal_prove_say_bound(const void *where)
{
	const char *why;

	if (!mal.slot->bound[0] && !mal_region_is_free(where, &why))
		strncpy(mal.slot->bound, why, sizeof(mal.slot->bound) - 1);
}

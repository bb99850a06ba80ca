/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * no_prover.c: instead of prover/rank, in a build without it: regions are not classified.
 *
 * Invariant: steps run and report without it (t/t0014-configure.t).
 */
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/core/env.h"
#include "libmalleable/prover/prove.h"
#include "libmalleable/rank/state/rank.h"

/* The report says so where they would have been. */
void mal_prove(void)
{
	if (getenv(MAL_ENV_PROVE) && mal.mode == MAL_MODE_AUTO)
		snprintf(mal.slot->bound_reason, sizeof(mal.slot->bound_reason),
			 "built without the prover");
}

struct mal_region_verdict mal_prove_region(const void *key)
{
	(void)key;
	return (struct mal_region_verdict){.stays = true};
}

void mal_prove_note_bound(const void *key)
{
	(void)key;
}

bool mal_prove_all_free(void)
{
	return false;
}

void mal_prove_reported_one(void)
{
}

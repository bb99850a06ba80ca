/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * no_pmix.c: instead of pmix.c and summary.c, in a build without PMIx: it is as if no process had
 * the library, and each node reports by itself.
 *
 * Invariant: steps run and report without it (t/t0014-configure.t).
 */
#include "libmalleable/rank/pmix/pmix.h"
#include "libmalleable/rank/pmix/summary.h"

bool mal_pmix_open(bool load)
{
	(void)load;
	return false;
}

void mal_pmix_close(void)
{
}

bool mal_pmix_local(unsigned int *rank, unsigned int *count)
{
	(void)rank;
	(void)count;
	return false;
}

void mal_summary_begin(void)
{
}

void mal_summary_end(void (*progress)(void), void (*poll)(void))
{
	(void)progress;
	(void)poll;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region_totals.h: what the ranks did in the regions that their program named.
 *
 * Invariant: What a rank wrote of them is no more than there was time for, and is harmless to print
 * (t/unit/test_report.c: named_regions_are_told).
 */
#pragma once

#include "libmalleable/controller/load/whole.h"

/* A region of one rank. Each rank has numbers of its own. */
struct mal_named {
	char name[MAL_REGION_NAME];
	unsigned int rank, number;
	const struct mal_region_slot *slot;
};

/* Go on to the next region that a rank named; begin with zeros. Returns false behind the last. */
bool mal_named_next(const struct mal_controller *controller, struct mal_named *at);

struct mal_region_total {
	char name[MAL_REGION_NAME];
	uint64_t runs;		/* of the rank with most */
	unsigned int ranks;	/* that ran it */
	unsigned int cpu_count; /* with which these started */
	struct mal_whole whole; /* cpus: all 0 also where threads are not known */
	double balance;		/* mean over maximum of what they computed; NaN: not known */
	double offered_s;	/* in declared waits, of the rank with most */
	double outside_part;	/* of the CPUs' time in waits outside MPI; NaN: not known */
	double offer_saves_s;	/* of the step at most, if others had these CPUs; NaN likewise */
};

/* The COUNT regions that took longest, the longest first, MAL_NAMED_REGIONS at most. */
struct mal_region_totals {
	size_t count;
	struct mal_region_total total[MAL_NAMED_REGIONS];
};

void mal_region_totals_read(const struct mal_controller *controller, const struct mal_whole *whole,
			    struct mal_region_totals *totals);

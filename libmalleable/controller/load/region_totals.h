/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region_totals.h: what the ranks did in the regions that their program named.
 *
 * Invariant: What a rank wrote of them is no more than there was time for, and is harmless to print
 * (t/unit/test_report.c: named_regions_are_told).
 */
#pragma once

#include "libmalleable/controller/load/whole.h"

struct mal_region_total {
	char name[MAL_REGION_NAME];
	uint64_t runs;		/* of the rank with most */
	unsigned int ranks;	/* that ran it */
	unsigned int cpu_count; /* with which these started */
	struct mal_whole whole; /* cpus: all 0 also where threads are not known */
	double balance;		/* mean over maximum of what they computed; NaN: not known */
	double offered_s;	/* in declared waits, of the rank with most */
	double outside_part;	/* of the CPUs' time in waits outside MPI; NaN: not known */
};

/* The COUNT regions that took longest, the longest first, MAL_NAMED_REGIONS at most. */
struct mal_region_totals {
	size_t count;
	struct mal_region_total total[MAL_NAMED_REGIONS];
};

void mal_region_totals_read(const struct mal_controller *controller,
			    struct mal_region_totals *totals);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * busy_cpus.h: how long each CPU of the step was busy for ranks, by what these have counted.
 *
 * Invariant: What a rank wrote is no more than there was time for (t/unit/test_report.c:
 * busy_cpus_are_told).
 */
#pragma once

#include <stdint.h>

#include "libmalleable/controller/state/controller.h"

/* From the ranks' beginning on, by CPU in the order of the step's list. */
struct mal_busy_cpus {
	bool counts[MAL_MAX_CPUS]; /* a rank started on it, or used it */
	double busy_s[MAL_MAX_CPUS];
	double balance;		      /* mean over maximum; NaN: none was busy */
	unsigned int idlest, busiest; /* of those that count */
};

void mal_busy_cpus_read(const struct mal_controller *controller, struct mal_busy_cpus *cpus);

/* Ticks for which RANK was busy on CPU number CPU so far; 0 costs no memory. */
uint64_t mal_lane_read(const struct mal_controller *controller, unsigned int rank,
		       unsigned int cpu);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * talp_json.h: the report's efficiencies under the keys that TALP-Pages reads.
 *
 * Invariant: It has all keys that TALP-Pages needs (t/t3009-report.t: TALP-Pages reads it).
 */
#ifndef MAL_CONTROLLER_REPORT_TALP_JSON_H
#define MAL_CONTROLLER_REPORT_TALP_JSON_H

#include <jansson.h>

#include "policies/model/efficiency.h"

/*
 * The keys that DLB 3.8 writes for a whole run (talp-pages 3.8 on PyPI, io/dataframe_handling.py),
 * so that "talp ci-report" takes a report among those of DLB: CPUS, where the time of CPU_COUNT
 * CPUs of RANK_COUNT ranks went in ELAPSED_S seconds. Times are in ns. There are no hardware
 * counters: cycles and instructions are 0. What we lose in regions is TALP's OpenMP load balance;
 * its scheduling efficiency, and load balance between nodes, is 1. Returns an object, the caller's
 * reference, or NULL: out of memory. Thread safe.
 */
json_t *mal_talp_json(const struct mal_cpu_seconds *cpus, unsigned int rank_count,
		      unsigned int cpu_count, double elapsed_s);

#endif

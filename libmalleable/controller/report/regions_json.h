/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * regions_json.h: efficiencies, and what the program named, as JSON: in the report and the status.
 *
 * Invariant: What is not known is null (t/unit/test_report.c: named_regions_are_told).
 */
#pragma once

#include <jansson.h>

#include "libmalleable/controller/load/region_totals.h"

/* null: not known. */
json_t *mal_efficiency_json(const struct mal_cpu_seconds *cpus);

json_t *mal_regions_json(const struct mal_region_totals *regions);

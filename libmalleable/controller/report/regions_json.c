/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* regions_json.c: efficiencies, and what the program named, as JSON. */
#include "libmalleable/controller/report/regions_json.h"

#include "libmalleable/base/json_number.h"

json_t *mal_efficiency_json(const struct mal_cpu_seconds *cpus)
{
	struct mal_efficiencies part = mal_efficiencies(cpus);

	return json_pack("{s:o, s:{s:o, s:o, s:o}, s:{s:o, s:o, s:o}}", "parallel",
			 mal_json_number(part.parallel), "mpi", "parallel",
			 mal_json_number(part.mpi), "load_balance",
			 mal_json_number(part.load_balance), "communication",
			 mal_json_number(part.communication), "openmp", "parallel",
			 mal_json_number(part.openmp), "serial", mal_json_number(part.serial),
			 "regions", mal_json_number(part.regions));
}

json_t *mal_regions_json(const struct mal_region_totals *regions)
{
	json_t *list = json_array();

	for (size_t i = 0; i < regions->count; i++) {
		const struct mal_region_total *region = &regions->total[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:I, s:i, s:i, s:f, s:f, s:f, s:o, s:o, s:o, s:o}", "name",
				  region->name, "runs", (json_int_t)(region->runs & INT64_MAX),
				  "ranks", (int)region->ranks, "cpus", (int)region->cpu_count,
				  "elapsed_s", region->whole.elapsed_s, "mpi_s",
				  region->whole.mpi_s, "offered_s", region->offered_s,
				  "outside_part", mal_json_number(region->outside_part),
				  "offer_saves_s", mal_json_number(region->offer_saves_s),
				  "load_balance_before", mal_json_number(region->balance),
				  "efficiency", mal_efficiency_json(&region->whole.cpus)));
	}
	return list;
}

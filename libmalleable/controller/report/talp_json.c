/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* talp_json.c: the report's efficiencies under the keys that TALP-Pages reads. */
#include "libmalleable/controller/report/talp_json.h"

#include "libmalleable/base/json_number.h"

/* The version of DLB whose keys these are. */
#define KEYS_OF "3.8"

/* As an integer of ns; noise may make a difference negative. */
static json_t *ns(double seconds)
{
	return json_integer(seconds > 0 ? (json_int_t)(seconds * 1e9) : 0);
}

static json_t *metrics(const struct mal_cpu_seconds *cpus, unsigned int rank_count,
		       unsigned int cpu_count, double elapsed_s)
{
	struct mal_efficiencies part = mal_efficiencies(cpus);

	return json_pack("{s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
			 "s:o, s:f, s:o, s:o, s:f, s:o}",
			 "numCpus", (int)cpu_count, "numMpiRanks", (int)rank_count, "cycles", 0,
			 "instructions", 0, "elapsedTime", ns(elapsed_s), "usefulTime",
			 ns(cpus->useful_s), "mpiTime", ns(cpus->all_s - cpus->computing_s),
			 "ompLoadImbalanceTime", ns(cpus->threads_s - cpus->useful_s),
			 "ompSchedulingTime", json_integer(0), "ompOutsideParallelTime",
			 ns(cpus->computing_s - cpus->threads_s), "parallelEfficiency",
			 mal_json_number(part.parallel), "mpiParallelEfficiency",
			 mal_json_number(part.mpi), "mpiCommunicationEfficiency",
			 mal_json_number(part.communication), "mpiLoadBalance",
			 mal_json_number(part.load_balance), "mpiLoadBalanceIn",
			 mal_json_number(part.load_balance), "mpiLoadBalanceOut", 1.0,
			 "ompParallelEfficiency", mal_json_number(part.openmp), "ompLoadBalance",
			 mal_json_number(part.regions), "ompSchedulingEfficiency", 1.0,
			 "ompCoverageEfficiency", mal_json_number(part.serial));
}

json_t *mal_talp_json(const struct mal_cpu_seconds *cpus, unsigned int rank_count,
		      unsigned int cpu_count, double elapsed_s)
{
	return json_pack("{s:s, s:{s:i, s:i, s:i}, s:{s:o}}", "dlbVersion", KEYS_OF, "resources",
			 "numCpus", (int)cpu_count, "numMpiRanks", (int)rank_count, "numGpus", 0,
			 "Application", "Global", metrics(cpus, rank_count, cpu_count, elapsed_s));
}

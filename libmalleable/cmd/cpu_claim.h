/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cpu_claim.h: which CPUs of a job the ranks of a launcher use, so that those of another one do not
 * take them too. Not thread safe.
 */
#ifndef MAL_CMD_CPU_CLAIM_H
#define MAL_CMD_CPU_CLAIM_H

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/error.h"

/*
 * Claim CPUS. Returns a descriptor that holds them until it is closed, or -1 with ERR: another
 * launcher of the job has some, or the job has no balanced script here.
 */
int mal_cpu_claim(const struct mal_cpumask *cpus, struct mal_error *err);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cpu_claim.h: which CPUs of the user's the ranks of a launcher use, so that those of another one
 * do not take them too. A claim ends with its process. Not thread safe.
 */
#ifndef MAL_CMD_CPU_CLAIM_H
#define MAL_CMD_CPU_CLAIM_H

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/error.h"

/* Claim CPUS. Returns a descriptor that holds them, or -1 with ERR: another process has some. */
int mal_cpu_claim(const struct mal_cpumask *cpus, struct mal_error *err);

/* End the claim that CLAIM holds. */
void mal_cpu_claim_end(int claim);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* shares.h: dividing the CPUs that several jobs were given among their steps; a pure function. */
#ifndef MAL_AGENT_SHARES_H
#define MAL_AGENT_SHARES_H

#include <stdbool.h>
#include <stddef.h>

#include "libmalleable/core/agent.h"

#define MAL_CLAIMS_MOST 64

struct mal_claim {
	uint32_t job;
	uint32_t weight;
	uint32_t least;
	struct mal_cpumask cpus;  /* that Slurm gave the step */
	struct mal_cpumask share; /* in: what it has now; out: what it is to have */
	bool divided;		  /* out: its CPUs are divided; else it has all of them, beside others */
};

/*
 * Divide. Each CPU goes to one of the steps that have it, as many to each job as its weight says (steps of a job that have the same CPU
 * take equal parts), where the step has been before if that fits. A step that would get fewer than its least stays undivided, and
 * is left out. COUNT is MAL_CLAIMS_MOST at most. Deterministic.
 */
void mal_shares_divide(struct mal_claim *claims, size_t count);

#endif

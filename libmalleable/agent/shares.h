/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* shares.h: divide CPUs that several jobs have among their steps. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "libmalleable/agent/protocol.h"

#define MAL_CLAIMS_MAX 72

/* A step's claim to CPUs. */
struct mal_claim {
	uint32_t job;
	uint32_t weight;	  /* of its job, the same for all of its steps; 0: takes no part */
	uint32_t min;		  /* CPUs that it needs at least */
	struct mal_cpumask cpus;  /* CPUs that Slurm gave the step */
	struct mal_cpumask share; /* in: what it has now; out: its share */
	/* out: its CPUs are divided; else it has all of them, together with others */
	bool divided;
};

/*
 * Divide the CPUs of COUNT claims, MAL_CLAIMS_MAX at most. Each CPU goes to one of the steps that
 * have it: by the weights of their jobs, equally among steps of one job, and if possible to the
 * step that has it now. A step that would get fewer CPUs than its minimum keeps all of its own,
 * undivided. Deterministic; a pure function.
 */
void mal_shares_divide(struct mal_claim *claims, size_t count);

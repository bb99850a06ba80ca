/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * closed.h: run a policy against a made-up program, in a closed loop.
 *
 * In a replay (simulation.h) ranks need what the model says. Here they need what the program says
 * (loads.h, phase.h), and the policy sees no more of it than samples, as in a real step: windows
 * are the controller's (windows.h), and a plan holds from the window after it on.
 */
#pragma once

#include "policies/decide/rejection.h"
#include "policies/interface/policy.h"
#include "t/closed/loads.h"

struct mal_closed {
	unsigned int windows;
	double phases;
	double off_s;	     /* with the CPUs of the beginning, nothing lent */
	double elapsed_s;    /* with the policy */
	double ideal_s;	     /* with all work spread over all CPUs; no policy can be faster */
	unsigned long moves; /* CPUs that changed hands */
	/* why a plan was unfit: nothing moves after it; empty: none was */
	char rejection[MAL_REJECTION_TEXT];
};

/* A machine of two sockets. */
struct mal_closed_places {
	struct mal_topology topology;
	unsigned int l3[MAL_MAX_CPUS], numa[MAL_MAX_CPUS];
};

/* Fill PLACES with as many CPUs as PROGRAM has. */
void mal_closed_place(const struct mal_program *program, struct mal_closed_places *places);

/*
 * Run PROGRAM from its first phase under POLICY with VALUES. TOPOLOGY has the CPUs of all ranks;
 * each rank owns its part of them at first. Returns 0, or -1 with ERR: out of memory.
 */
int mal_closed_run(const struct mal_policy *policy, const double *values,
		   struct mal_program *program, const struct mal_topology *topology,
		   struct mal_closed *closed, struct mal_error *err);

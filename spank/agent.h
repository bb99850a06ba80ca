/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent.h: the node's agent: start it in slurmd, and report steps to it (spank/agent). A build
 * without it has spank/no_agent.c, where there is none.
 */
#pragma once

#include <stdint.h>

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/error.h"

struct balance_agent_step {
	uint32_t user;
	uint32_t job, step;
	uint32_t weight; /* of its job, 1 or more */
	uint32_t min;	 /* CPUs that the step needs at least, one per rank */
	struct mal_cpumask cpus;
};

/*
 * In slurmd: start the agent from PATH as user USER, or make a running one run for this slurmd too.
 * It ends with the last slurmd. Returns 0, or -1 with ERR.
 */
int balance_agent_start(const char *path, const char *user, struct mal_error *err);

/* slurmd ends: the agent ends too and its socket is removed, unless it runs for another slurmd. */
void balance_agent_end(void);

/*
 * In slurmstepd, as root: report that STEP starts, and wait for the answer, 100 ms at most. Returns
 * the connection, for the controller, or -1 if there is no agent or it refuses the step, which is
 * logged.
 */
int balance_agent_join(const struct balance_agent_step *step);

/* The descriptor that keeps the step's claim, -1: none. */
int *balance_agent_claim(void);

/*
 * The step has ended, whoever still holds its connection. In a forked child: close its copy of the
 * claim, which is slurmstepd's only.
 */
void balance_agent_leave(void);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* agent.h: the node's agent (core/agent.h): starting it in slurmd, and steps that report to it. */
#ifndef MAL_SPANK_AGENT_H
#define MAL_SPANK_AGENT_H

#include "libmalleable/core/agent.h"
#include "libmalleable/core/error.h"

/*
 * In slurmd: start it, as the user USER, from PATH; one that answers already is asked to run for this slurmd too. It ends with the last of
 * them. Returns 0, or -1 with ERR.
 */
int balance_agent_start(const char *path, const char *user, struct mal_error *err);

/* slurmd ends: so does the agent, unless another slurmd has come, and its socket goes. */
void balance_agent_end(void);

/*
 * In slurmstepd: say that STEP begins. Root's id is taken on for it. Returns the connection, which is for the controller, or -1: there is no
 * agent, or it does not answer at once.
 */
int balance_agent_join(const struct mal_agent_step *step);

#endif

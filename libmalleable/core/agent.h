/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent.h: what steps and the node's agent say to each other, where jobs share CPUs.
 *
 * The agent listens on a socket whose name only root can give. slurmstepd connects as root and says who the step is; the agent believes
 * that, because the kernel names root (SO_PEERCRED), and nobody else. The open connection then goes to the step's controller, a
 * process of the user, which is told its share of CPUs and says when it has left those that it lost. The agent reads no more from it, and enforces
 * nothing: a step that takes no notice shares its CPUs in time, as without an agent.
 */
#ifndef MAL_CORE_AGENT_H
#define MAL_CORE_AGENT_H

#include <stdint.h>

#include "libmalleable/core/cpumask.h"

#define MAL_AGENT_SOCKET "/run/malleable.agent"
#define MAL_AGENT_VERSION 1u

/*
 * The first message on a connection, from root: a step begins. With the read end of a pipe (SCM_RIGHTS) it is no step, but another slurmd
 * for which the agent is to run, until the other end is closed.
 */
struct mal_agent_step {
	uint32_t version;
	uint32_t job, step;
	uint32_t weight; /* of its job, 1 or more */
	uint32_t least;	 /* CPUs without which the step cannot be divided: its ranks */
	struct mal_cpumask cpus;
};

/* From the agent: the step's share from now on. */
struct mal_agent_share {
	uint64_t number;
	struct mal_cpumask cpus;
};

/* From the step: it has left what is not in that share. */
struct mal_agent_done {
	uint64_t number;
};

#endif

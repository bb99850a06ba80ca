/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * protocol.h: messages between steps and the node's agent, where jobs share CPUs.
 *
 * The agent listens on a socket that only root can create. slurmstepd connects as root and says
 * what the step is; the agent believes that because the kernel says that root connected
 * (SO_PEERCRED). The open connection then goes to the step's controller, a process of the user,
 * which receives the step's share and says when it has left CPUs that it lost. The agent reads
 * nothing else from it, and enforces nothing: a step that ignores its share competes for CPU time,
 * as without an agent.
 *
 * A user can keep the connection open after the step has ended. So a claim ends with the connection
 * or with a pipe that only slurmstepd holds, whichever closes first.
 */
#pragma once

#include <stdint.h>

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/pinned.h"

#define MAL_AGENT_SOCKET "/run/malleable.agent"
#define MAL_AGENT_VERSION 2u

/* The first message of root on a connection, a struct mal_agent_step. */
enum mal_agent_kind {
	/*
	 * A step starts. Descriptors come with it (SCM_RIGHTS): the read end of the pipe and, if
	 * Slurm can suspend the step by its cgroup, the file that tells: freezer.state (v1) or
	 * cgroup.events (v2).
	 */
	MAL_AGENT_STEP = 1,
	/*
	 * A new slurmd has started, and the agent is to run for it too. The read end of its pipe
	 * comes with it.
	 */
	MAL_AGENT_SLURMD = 2,
};

/* Descriptors with such a message, at most. */
#define MAL_AGENT_FDS 2

struct mal_agent_step {
	uint32_t version;
	uint32_t kind;
	/* The rest is set for MAL_AGENT_STEP only. */
	uint32_t user;
	uint32_t job, step;
	uint32_t weight; /* of its job, 1 or more */
	uint32_t min;	 /* CPUs that the step needs at least, one per rank */
	struct mal_cpumask cpus;
};

/* The agent's answer to that message, for slurmstepd. */
enum mal_agent_verdict {
	MAL_AGENT_TAKEN = 1,
	MAL_AGENT_FULL = 2,	 /* it has its maximum of steps */
	MAL_AGENT_USER_FULL = 3, /* this user has its maximum of steps */
};

struct mal_agent_answer {
	uint32_t version;
	uint32_t verdict;
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

/* clang-format off */
MAL_PIN_SIZE(mal_agent_step, 160, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_step, version, 0, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_step, kind, 4, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_step, user, 8, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_step, job, 12, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_step, step, 16, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_step, weight, 20, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_step, min, 24, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_step, cpus, 32, "MAL_AGENT_VERSION")
MAL_PIN_SIZE(mal_agent_answer, 8, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_answer, version, 0, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_answer, verdict, 4, "MAL_AGENT_VERSION")
MAL_PIN_SIZE(mal_agent_share, 136, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_share, number, 0, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_share, cpus, 8, "MAL_AGENT_VERSION")
MAL_PIN_SIZE(mal_agent_done, 8, "MAL_AGENT_VERSION")
MAL_PIN(mal_agent_done, number, 0, "MAL_AGENT_VERSION")
/* clang-format on */

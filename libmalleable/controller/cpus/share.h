/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * share.h: the step's share of CPUs that other jobs were given too, as the node's agent says
 * (core/agent_protocol.h).
 *
 * While there is no agent, or balancing is switched off, the share is all of the step's CPUs.
 */
#ifndef MAL_CONTROLLER_CPUS_SHARE_H
#define MAL_CONTROLLER_CPUS_SHARE_H

#include "libmalleable/controller/state/controller.h"

/* No agent yet. NULL: out of memory. */
struct mal_agent_link *mal_agent_link_create(void);

/* Leaves the connection open. NULL-safe. */
void mal_agent_link_destroy(struct mal_agent_link *link);

/* Messages come from FD; -1: there is no agent. */
void mal_share_open(struct mal_controller *controller, int fd);

/*
 * Take what the agent says, and see that the ranks keep to it: they may have begun with CPUs that
 * are not in the share. The agent is answered when no thread may run on another CPU (leaving.h).
 */
void mal_share_update(struct mal_controller *controller);

#endif

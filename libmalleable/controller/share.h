/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * share.h: the step's share of CPUs that other jobs were given too, as the node's agent says
 * (controller/agent). A build without it has controller/no_agent.c.
 *
 * While there is no agent, or balancing is switched off, the share is all of the step's CPUs.
 *
 * Invariant: The agent has its answer when no thread may run on CPUs outside of the share, not
 * before (t/unit/test_share.c: answered_when_left).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/* Messages come from FD; -1: there is no agent. */
void mal_share_open(struct mal_controller *controller, int fd);

/*
 * Take what the agent says, and see that the ranks keep to it: they may have begun with CPUs that
 * are not in the share. The agent is answered when no thread may run on another CPU (leaving.h).
 */
void mal_share_update(struct mal_controller *controller);

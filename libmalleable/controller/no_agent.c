/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* no_agent.c: instead of controller/agent, in a build without it: all CPUs are the step's share. */
#include "libmalleable/controller/share.h"

void mal_share_open(struct mal_controller *controller, int fd)
{
	(void)controller, (void)fd;
}

void mal_share_update(struct mal_controller *controller)
{
	(void)controller;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* no_agent.c: instead of controller/agent, in a build without it: all CPUs are the step's share. */
#include "libmalleable/controller/share.h"

int mal_share_open(struct mal_controller *controller, int fd, struct mal_error *err)
{
	(void)controller, (void)fd, (void)err;
	return 0;
}

void mal_share_close(struct mal_controller *controller)
{
	(void)controller;
}

void mal_share_update(struct mal_controller *controller)
{
	(void)controller;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* no_agent.c: instead of spank/agent, in a build without it: jobs that share CPUs take turns. */
#include "spank/agent.h"

int balance_agent_start(const char *path, const char *user, struct mal_error *err)
{
	(void)path, (void)user;
	return mal_fail(err, "built without the agent");
}

void balance_agent_end(void)
{
}

int balance_agent_join(const struct balance_agent_step *step)
{
	(void)step;
	return -1;
}

/* As none is ever made. */
int *balance_agent_claim(void)
{
	static int none = -1;

	return &none;
}

void balance_agent_leave(void)
{
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patience_agent.c: the agent's part of test_patience.c. */
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/agent/protocol.h"
#include "t/unit/silence.h"
#include "t/unit/unit.h"

/* In the test's own directory. */
static const char *agent_socket(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/agent", getenv("XDG_RUNTIME_DIR"));
	return path;
}

#undef MAL_AGENT_SOCKET
#define MAL_AGENT_SOCKET agent_socket()
#include "spank/agent/agent.c"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int balance_tracker_open_state(uint32_t step)
{
	return -1;
}

static void agent_says_nothing(void)
{
	struct balance_agent_step sharer = {0};
	struct mal_error err;
	int listening = listen_for_steps(&err);

	assert_true(listening >= 0);
	assert_int_equal(balance_agent_join(&sharer), -1);
	close(listening);
	unlink(agent_socket());
}

static void agent_does_not_start(void)
{
	struct mal_error err;

	unlink(agent_socket());
	assert_int_equal(balance_agent_start("/bin/true", "nobody", &err), -1);
	assert_string_equal(err.text, "the agent /bin/true does not start");
}

static void agent_does_not_end(void)
{
	life = dup(STDIN_FILENO);
	silence.connects = true;
	balance_agent_end();
	silence.connects = false;
}

const struct silence_wait silence_waits_of_agent[] = {
	{"an agent that says nothing", agent_says_nothing, 100},
	{"an agent that does not start", agent_does_not_start, 1000 + 100},
	{"an agent that does not end", agent_does_not_end, 100},
	{0},
};

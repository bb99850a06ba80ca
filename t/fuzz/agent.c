/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent.c: connections to the node's agent. A byte of the input opens a connection, lets time pass,
 * or selects a connection that has a message or whose pipe has ended.
 */
#include <stdlib.h>

#include "libmalleable/base/clock.h"

static long now_ms;

static long fuzz_now_ms(void)
{
	return now_ms;
}

#define mal_now_ms fuzz_now_ms
#include "libmalleable/agent/claims.c"
#include "t/fuzz/fuzz.h"

/* More clients take longer and find nothing new. */
#define CLIENTS 6

/* poll(2) found something on one connection, or more. */
static void serve(unsigned int which)
{
	struct pollfd wait[MAL_CLAIMS_WAITS];
	size_t count = mal_claims_wait(wait);

	if (!count)
		return;
	wait[which % count].revents = POLLIN;
	if (which >= 0x80)
		wait[(which >> 2) % count].revents = POLLIN;
	mal_claims_serve(wait, count);
}

/* Every step always has a CPU of its own, and what it is due once nothing is pending. */
static void check(void)
{
	for (size_t i = 0; i < client_count; i++) {
		const struct client *client = &clients[i];

		if (!client->known)
			continue;
		if (!mal_cpumask_count(&client->claim.share) ||
		    !is_within(&client->claim.share, &client->claim.cpus))
			abort();
		if (!growing && listens(client) &&
		    memcmp(&client->claim.share, &wanted[i], sizeof(wanted[i])) != 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_begin(data, size);
	client_count = 0;
	growing = shared = false;
	now_ms = 1;
	next_look = 0;
	for (unsigned int i = 0; fuzz_left && i < 32; i++) {
		unsigned int what = fuzz_byte();

		if (what < 0xe0)
			serve(what);
		else if (what < 0xf0)
			now_ms += (long)fuzz_byte() * 4;
		else if (client_count < CLIENTS)
			mal_claims_accept(3);
		mal_claims_update();
		check();
	}
	return 0;
}

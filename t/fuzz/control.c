/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * control.c: requests to a controller, one per line, of some clients, which may stay, between
 * rounds of samples.
 */
#include <stdlib.h>

#include "libmalleable/controller/clients.c"
#include "libmalleable/controller/control_socket.c"
#include "t/fuzz/fuzz.h"
#include "t/fuzz/step.h"

/* One of a few; nobody reads the answers to it. */
static struct mal_client *client_of(struct mal_controller *controller, unsigned int number)
{
	struct mal_client *client = &controller->clients_own.list[number % 4];

	if (client->kind == MAL_CLIENT_NONE)
		*client = (struct mal_client){.kind = MAL_CLIENT_ASKS, .fd = -1};
	return client;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_controller *controller = fuzz_step_open("auto");

	fuzz_begin(data, size);
	for (unsigned int i = 0; fuzz_left && i < 12; i++) {
		const uint8_t busy[FUZZ_RANKS] = {(uint8_t)i, 200, 3, (uint8_t)fuzz_left};
		char *text = fuzz_line();

		serve(controller, client_of(controller, (unsigned int)strlen(text)), text);
		free(text);
		fuzz_step_round(controller, busy);
	}
	mal_clients_close(controller);
	fuzz_step_close(controller);
	return 0;
}

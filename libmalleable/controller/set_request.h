/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * set_request.h: what a request to set CPUs, bounds or the policy changes.
 *
 * Invariant: Of several orders all hold or none (t/unit/test_control.c: swaps).
 */
#pragma once

#include "libmalleable/controller/clients.h"

/*
 * Carry out TEXT of CLIENT: words, and ";" between orders (malleable.1). Returns 0, or -1 with ERR:
 * nothing has changed.
 */
int mal_set_request(struct mal_controller *controller, struct mal_client *client, const char *text,
		    struct mal_error *err);

/* CLIENT, which held its orders, has gone: they end. */
void mal_set_end(struct mal_controller *controller, const struct mal_client *client);

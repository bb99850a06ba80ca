/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * clients.h: who has connected to the controller: those whose request has not come whole yet, those
 * that read events, and those whose orders end with their connection.
 *
 * Invariant: Nobody waits for a client that sends nothing (t/t3004-control.t: silent).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/* Those that stay connected, of each kind. */
#define MAL_CLIENTS_STAY 16

/*
 * Look for the next client: *ASKS has sent a request, which is in TEXT, or held orders and has
 * gone: TEXT is empty then. NULL: it has sent nothing yet. FIRST begins with those that came
 * before, if all of them have had their turn. Returns false if there is no other.
 */
bool mal_clients_look(struct mal_controller *controller, bool first, struct mal_client **asks,
		      char *text, size_t size);

/* CLIENT stays connected, as one of KIND. Returns 0, or -1 with ERR: there are too many. */
int mal_client_stay(struct mal_controller *controller, struct mal_client *client,
		    enum mal_client_kind kind, struct mal_error *err);

/*
 * Answer CLIENT, and disconnect it if it has asked what it wanted to. Returns false if one that
 * stays does not read.
 */
bool mal_client_answer(struct mal_client *client, const char *text, size_t length);

/* Answer CLIENT with the descriptor FD, which the caller keeps, and disconnect it. */
void mal_client_send_fd(struct mal_client *client, int fd);

/* Disconnect CLIENT. */
void mal_client_close(struct mal_client *client);

/* The orders for RANK are CLIENT's, if it holds its own; NULL: nobody's. */
void mal_clients_hold(struct mal_controller *controller, const struct mal_client *client,
		      unsigned int rank);

/* Whether anybody reads events. */
bool mal_clients_read(const struct mal_controller *controller);

/* Send LINE to all who read events. */
void mal_clients_tell(struct mal_controller *controller, const char *line, size_t length);

void mal_clients_close(struct mal_controller *controller);

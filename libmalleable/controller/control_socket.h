/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * control_socket.h: requests to the controller: from the malleable command
 * (doc/man/malleable.1), from slurmstepd and controllers of the job's other steps, and from ranks.
 *
 * Invariant: After 16 clients the ranks come first again (t/unit/test_control.c: ranks_come_first).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/* Serve the clients that wait. After some of them the loop has its turn first. */
void mal_control_serve(struct mal_controller *controller);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * control.h: answers the malleable command: status of the step, and orders from outside
 * (doc/man/malleable.1).
 */
#ifndef MAL_CONTROLLER_CONTROL_H
#define MAL_CONTROLLER_CONTROL_H

#include "libmalleable/controller/state/controller.h"

/* Serve requests from now on, where there is a socket for them. */
void mal_control_open(struct mal_controller *controller);

/* Serve the clients that wait. */
void mal_control_serve(struct mal_controller *controller);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * as_user.h: root asks a user's controller, whose answer that user wrote: a child takes on the
 * user's identity first, and parses it. The user can stop that child or make it print anything. So
 * the caller waits for it with a deadline, and filters its output.
 */
#pragma once

#include <stdio.h>

#include "libmalleable/control/steps.h"

/*
 * Call ACT with ARGUMENT as the controller's user. In a child if that is not the caller: its output
 * goes to OUT, its standard error to ours. Returns what ACT returns (0 to 255), or -1 if no child
 * could be started or it took too long.
 */
int mal_step_as_user(const struct mal_controller_process *controller,
		     int (*act)(const struct mal_controller_process *controller, void *argument,
				FILE *out),
		     void *argument, FILE *out);

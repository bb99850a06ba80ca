/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch.h: notices the end of the step and of each rank, and wakes the controller.
 *
 * Invariant: The step ends when the other end of its pipe is closed (t/unit/test_malleabled.c:
 * whole_step).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/*
 * Start a thread that waits until the other end of pipe LIFE_FD is closed, however its holder
 * ended; then sets controller->ending and wakes. Returns 0 or -1 with ERR.
 */
int mal_watch_start(struct mal_controller *controller, int life_fd, struct mal_error *err);

/*
 * Also watch process PID: its end wakes the controller. Failure is ignored: it may be gone already.
 */
void mal_watch_process(int32_t pid);

/*
 * Also watch socket FD: whatever comes sets controller->asked and wakes.
 */
void mal_watch_channel(int fd);

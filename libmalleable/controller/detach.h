/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * detach.h: the controller leaves its parent, root, and the reach of signals.
 *
 * Invariant: A controller that became the user cannot become root again (t/unit/test_malleabled.c:
 * child_is_the_users_for_good).
 */
#pragma once

#include "libmalleable/base/error.h"
#include "libmalleable/core/arguments.h"

/*
 * As HOW says: enter the cgroups, take the OOM score of a user's process, and go on in a child,
 * which is the user's for good and which no other process of that user can trace or look into; the
 * parent hands the child's process to START_FD and exits. Supplementary groups stay. Where it
 * fails, START_FD is told why, and the caller must end. Returns 0 in the child, or -1 with ERR.
 */
int mal_detach(const struct mal_arguments *how, struct mal_error *err);

/*
 * Whoever started us holds the other end of the pipe LIFE_FD: when that is closed, also by its
 * death, this process goes on if somebody has stopped it. The kernel sees to it (O_ASYNC in
 * open(2), F_SETSIG in fcntl(2)). Where it cannot, a stopped process is killed, or stays.
 */
void mal_wake_at_end(int life_fd);

/*
 * No signal that can be ignored ends this process, whoever sends it to all of a step (scancel, a
 * time limit, a terminal): the pipe of whoever started it does.
 */
void mal_ignore_signals(void);

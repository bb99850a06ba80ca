/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * contained.h: callbacks that Slurm runs in a child of slurmstepd.
 *
 * With SlurmdParameters=contain_spank (24.05 and later) and a plugin that gives jobs namespaces of
 * their own, user_init, task_post_fork and task_exit run in such a child, in the job's namespaces.
 * It has slurmstepd's memory, but descriptors of its own: what it opens is closed when the callback
 * returns. So it leaves its descriptors in a socket of slurmstepd's. From there tasks get copies,
 * and the callback that ends the step gets them back. The end of slurmstepd closes them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "libmalleable/base/error.h"

/* In slurmstepd itself, before user_init: make the socket. */
void balance_contained_prepare(void);

/* In user_init: where that is run by slurmstepd itself, the socket is closed. */
void balance_contained_begin(void);

/* The process number of slurmstepd itself; of the caller if nothing was prepared. */
pid_t balance_contained_slurmstepd(void);

/*
 * In a child: leave the COUNT descriptors FDS (-1: none), which are closed here and become -1.
 * Returns 0, or -1 with ERR: they stay the caller's. In slurmstepd itself it does nothing.
 */
int balance_contained_leave(int *fds, size_t count, struct mal_error *err);

/*
 * Get back what was left, if anything was, close-on-exec. COPY, for tasks: others still find it
 * there, and the socket is closed here.
 */
void balance_contained_take(int *fds, size_t count, bool copy);

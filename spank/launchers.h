/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * launchers.h: launchers such as mpirun, in balanced jobs.
 *
 * They fork ranks on their own host, through malleable-join: the environment of a batch script
 * makes that their fork agent. On other hosts their daemons fork ranks, in steps of one task a
 * node.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libmalleable/core/setup.h"
#include "spank/plugin.h"

/*
 * Whether the step's program is the daemon of a launcher, which forks the ranks. NODES, those of
 * the step, becomes the job's where nodes that have no daemon may have ranks too.
 */
bool balance_launchers_find_daemon(spank_t spank, uint32_t *nodes);

/*
 * A script of USER's in JOB starts: make its pipe (core/script.h). Returns a descriptor, for the
 * caller to keep, and *HANDOVERS, -1: none; or -1 with ERR.
 */
int balance_launchers_await(uint32_t job, uid_t user, gid_t group, int *handovers,
			    struct mal_error *err);

/*
 * The script has ended: log what its launchers have handed over, within
 * balance_deadline_left(). *HANDOVERS is closed.
 */
void balance_launchers_record(int *handovers, uint32_t job, uid_t user);

/*
 * The script has ended: close *SCRIPT, its pipe, and remove it. With TELL one line tells the user
 * if no ranks came, from srun, a launcher, or `malleable run`. Where srun was used, but for no
 * ranks, it comes only if the script itself has computed: its steps have lines of their own.
 */
void balance_launchers_end(int *script, bool tell);

/* Remove the pipes of scripts whose slurmstepd was killed. */
void balance_launchers_clean_up(void);

/*
 * Make malleable-join the fork agent in ENV, but for one of the user's. Returns false if the path
 * of our programs cannot be one's.
 */
bool balance_launchers_set(const struct mal_setup_env *env);

/* Undo that. */
void balance_launchers_unset(const struct mal_setup_env *env);

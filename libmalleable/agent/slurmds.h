/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slurmds.h: the slurmds for which the agent runs. */
#ifndef MAL_AGENT_SLURMDS_H
#define MAL_AGENT_SLURMDS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* At most: after `scontrol reconfigure` one follows another at once. */
#define MAL_SLURMDS_MAX 8

/*
 * Add a slurmd, which runs while the other end of the pipe FD is open. Returns false, and leaves FD
 * to the caller, if there are too many.
 */
bool mal_slurmds_add(int fd);

/* Fill WAIT, of MAL_SLURMDS_MAX entries, for poll(2). Returns the number of slurmds that run. */
size_t mal_slurmds_wait(struct pollfd *wait);

/* Forget the slurmds that ended, going by what poll(2) found in the COUNT entries of WAIT. */
void mal_slurmds_drop_ended(const struct pollfd *wait, size_t count);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * claims.h: the connected steps, the share that each of them is told, and the slurmds for which
 * the agent runs.
 *
 * A CPU changes hands in two messages: first to the steps that lose one and, when these have left
 * it or used up their time, to those that gain it. A suspended step has no share, and is told
 * nothing until it is resumed. Single-threaded.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "libmalleable/agent/shares.h"

/*
 * Claims of all users; the remaining places are for connections that have not said yet which step
 * they are.
 */
#define MAL_CLAIMS_TAKEN 64
/* Claims of one user. Further steps of the user run undivided, so that other users find room. */
#define MAL_CLAIMS_OF_USER 16
/* Descriptors to poll at most: a connection and a pipe for each. */
#define MAL_CLAIMS_WAITS (2 * MAL_CLAIMS_MAX)

/* Accept a connection on LISTENING. */
void mal_claims_accept(int listening);

/* Fill WAIT, of MAL_CLAIMS_WAITS entries, for poll(2). Returns the number of entries. */
size_t mal_claims_wait(struct pollfd *wait);

/* Handle what poll(2) found in the COUNT entries of WAIT that mal_claims_wait() filled. */
void mal_claims_serve(const struct pollfd *wait, size_t count);

/* Do what is due now. Returns the time until something more is, in milliseconds. */
int mal_claims_update(void);

/*
 * Slurmds for which the agent runs, at most: after `scontrol reconfigure` one follows another at
 * once.
 */
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * socket.h: the socket of a step's controller, created by root where nobody else can create one
 * (core/rundir.h).
 *
 * All functions are for root.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "libmalleable/base/error.h"
#include "libmalleable/core/rundir.h"

struct balance_socket {
	char path[MAL_SOCKET_PATH];
	int fd; /* listening; -1: none */
};

#define BALANCE_SOCKET_NONE ((struct balance_socket){"", -1})

/*
 * Create the socket of step JOB.STEP, for UID and GID. Returns 0, or -1 with ERR and *SOCKET none.
 */
int balance_socket_make(struct balance_socket *socket, uint32_t job, uint32_t step, uid_t uid,
			gid_t gid, struct mal_error *err);

/* Close the socket in this process only. */
void balance_socket_close(struct balance_socket *socket);

/* Remove the socket, and its directory if it was the last one. */
void balance_socket_remove(struct balance_socket *socket);

/* Remove sockets whose slurmstepd has ended. */
void balance_sockets_clean_up(void);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * socket.c: the socket of a step's controller.
 *
 * Invariant: only its user can connect, and only root can create it (t/t4502-files.t).
 */
#include "spank/socket.h"

#include <stdio.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "spank/contained.h"
#include "spank/entries.h"

/* Retries if the last step that leaves removes the directory meanwhile. */
#define TRIES 10

int balance_socket_make(struct balance_socket *socket, uint32_t job, uint32_t step, uid_t uid,
			gid_t gid, struct mal_error *err)
{
	*socket = BALANCE_SOCKET_NONE;
	snprintf(socket->path, sizeof(socket->path), MAL_SOCKET_DIR "/%u.%u.%ld", job, step,
		 (long)balance_contained_slurmstepd());
	for (int i = 0; i < TRIES && socket->fd < 0; i++) {
		if (balance_directory_make(MAL_SOCKET_DIR, 0755, err) < 0)
			continue;
		/* A socket with our process number is left over from a dead process. */
		unlink(socket->path);
		socket->fd = mal_channel_listen(socket->path, uid, gid, err);
	}
	if (socket->fd < 0)
		*socket = BALANCE_SOCKET_NONE;
	return socket->fd < 0 ? -1 : 0;
}

void balance_socket_close(struct balance_socket *socket)
{
	if (socket->fd >= 0)
		close(socket->fd);
	socket->fd = -1;
}

void balance_socket_remove(struct balance_socket *socket)
{
	balance_socket_close(socket);
	unlink(socket->path);
	*socket = BALANCE_SOCKET_NONE;
	balance_directory_leave(MAL_SOCKET_DIR);
}

void balance_sockets_clean_up(void)
{
	mal_rundir_clean_up(MAL_SOCKET_DIR, NULL);
	balance_directory_leave(MAL_SOCKET_DIR);
}

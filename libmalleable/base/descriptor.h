/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * descriptor.h: wait for a descriptor, and pass one over a Unix socket (SCM_RIGHTS, unix(7)).
 *
 * All functions are thread safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whether few descriptors are left beside FD, which is the last that was opened. */
bool mal_descriptors_are_few(int fd);

/* That can be sent at once. */
#define MAL_DESCRIPTORS_MAX 8

/*
 * Wait for EVENTS of poll(2) on FD until DEADLINE, a time of mal_now_ms(); if that is past, poll
 * once. Goes on after signals. Returns false if no event came, or FD is -1.
 */
bool mal_descriptor_wait(int fd, short events, long deadline);

/*
 * Send SIZE bytes of DATA, at least one, and the descriptor FD (-1: none) over SOCKET, without
 * waiting. The caller keeps FD. Returns 0, or -1 with errno.
 */
int mal_descriptor_send(int socket, int fd, const void *data, size_t size);

/* The same with COUNT of them, none of them -1. */
int mal_descriptors_send(int socket, const int *fds, size_t count, const void *data, size_t size);

/*
 * Receive up to SIZE bytes into DATA, with FLAGS of recvmsg(2), and *COUNT descriptors at most into
 * FDS, of more only the first. *COUNT becomes their number. They are close-on-exec and the caller's
 * to close. Does not wait. Returns the number of bytes, or -1 with errno: EMFILE if some came and
 * none could be opened here.
 */
ssize_t mal_descriptors_receive(int socket, int *fds, size_t *count, void *data, size_t size,
				int flags);

/* The same of one descriptor: *FD is -1 if none came. */
ssize_t mal_descriptor_receive(int socket, int *fd, void *data, size_t size);

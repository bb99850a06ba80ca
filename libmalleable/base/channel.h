/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * channel.h: requests to a controller, from ranks, other controllers, the plugin and the malleable
 * command.
 *
 * A controller listens on a socket in a directory where nobody else can create one (core/rundir.h).
 * The socket's mode lets only the step's user and root connect. A request is one line, behind the
 * version of the protocol and a blank; an answer is text up to the end of the connection, or a
 * descriptor. A request of another version is answered with an error. Two kinds of connections stay
 * open (controller/clients.h), and are answered by lines.
 *
 * All functions are thread safe; ERR may be NULL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "libmalleable/base/error.h"

struct ucred;

/*
 * Version of the requests. It changes where an old `malleable`, plugin or controller would
 * misunderstand a new one.
 */
#define MAL_CHANNEL_VERSION "1"
/* Longest request, including its end: the summary of a node with all its ranks. */
#define MAL_CHANNEL_REQUEST (64u << 10)
/* Longest answer that a client reads. */
#define MAL_CHANNEL_ANSWER (4u << 20)
/* The request that is answered with the segment's descriptor. */
#define MAL_CHANNEL_SEGMENT "segment"
/* A task runs unbalanced, and has printed why. */
#define MAL_CHANNEL_UNBALANCED "unbalanced"

/*
 * Listen on a new socket PATH, to which UID and root may connect. PATH must be free; only root can
 * name another user than itself. Returns a non-blocking descriptor, or -1 with ERR.
 */
int mal_channel_listen(const char *path, uid_t uid, gid_t gid, struct mal_error *err);

/*
 * Accept the next client that may ask; those of other users are disconnected. Returns its
 * descriptor, which does not block, or -1 if no client is left.
 */
int mal_channel_accept(int listening);

/*
 * Take CLIENT's request into TEXT, without the version and the line's end. Does not wait. Returns
 * 1, 0: it has not come whole yet, or -1: it is too long, of another version, which is answered, or
 * CLIENT has gone.
 */
int mal_channel_take(int client, char *text, size_t size);

/*
 * Write the whole answer and close CLIENT. A client that does not read it in time is disconnected.
 */
void mal_channel_answer(int client, const char *text, size_t length);

/* Send a text without waiting. Returns false if CLIENT has no room for it, or has gone. */
bool mal_channel_send(int client, const char *text, size_t length);

/* Answer with the descriptor FD, which the caller keeps, and close CLIENT. */
void mal_channel_answer_fd(int client, int fd);

/*
 * Send REQUEST to the controller that listens on PATH, and wait TIMEOUT_MS at most. Returns its
 * answer, terminated, of LENGTH bytes, which the caller frees; or NULL with ERR.
 */
char *mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
		      struct mal_error *err);

/*
 * Connect to the controller on PATH until DEADLINE, a time of mal_now_ms(). Returns a descriptor
 * for the caller to close, or -1 with ERR.
 */
int mal_channel_open(const char *path, long deadline, struct mal_error *err);

/*
 * Send REQUEST on the connection FD, and read a line of SIZE bytes at most into ANSWER, without its
 * end. Returns 0, or -1.
 */
int mal_channel_ask_on(int fd, const char *request, char *answer, size_t size, long deadline);

/*
 * As mal_channel_ask() for an answer that is a descriptor. Returns it, for the caller to close, or
 * -1 with ERR.
 */
int mal_channel_ask_fd(const char *path, const char *request, int timeout_ms,
		       struct mal_error *err);

/*
 * Send REQUEST for a caller that must not trust the controller: reads no more than an "ok", and
 * allocates no memory. Returns false if that does not come within TIMEOUT_MS.
 */
bool mal_channel_tell(const char *path, const char *request, int timeout_ms);

/* Who connected to the socket FD, or listens on its other end. Returns whether that is known. */
bool mal_channel_peer(int fd, struct ucred *peer);

/*
 * Whether a process listens on PATH, or that cannot be found out, for want of a descriptor. Does
 * not wait.
 */
bool mal_channel_is_open(const char *path);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * channel.h: how the malleable command talks to the controllers of steps on its node.
 *
 * A controller listens on a socket with an abstract name (unix(7)), which is no file and vanishes with it. A request is one line, an
 * answer is text until its end. Both sides ask the kernel who the other is (SO_PEERCRED): a controller serves its own user and root,
 * and a client believes only the process that it meant.
 */
#ifndef MAL_CORE_CHANNEL_H
#define MAL_CORE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "libmalleable/core/error.h"

/* Longest request, with its end: the summary of a node with all its ranks. */
#define MAL_CHANNEL_REQUEST (64u << 10)
/* Longest answer that is read. */
#define MAL_CHANNEL_ANSWER (4u << 20)

/* In a controller: listen. Returns a descriptor that does not block, or -1 with ERR. */
int mal_channel_listen(struct mal_error *err);

/*
 * Take the next client that may ask, and its request into TEXT, without a line's end. Returns a descriptor for the
 * answer, or -1: there is no client, or none that asks in time (others are turned away in silence).
 */
int mal_channel_accept(int listening, char *text, size_t size);

/* Write all of the answer and close CLIENT; a client that does not read is left after a short time. */
void mal_channel_answer(int client, const char *text, size_t length);

/*
 * Ask the controller with process PID, which runs as UID. Returns its answer, terminated, to be freed, and its LENGTH; or NULL with ERR:
 * it does not listen, is another process, or does not answer within TIMEOUT_MS.
 */
char *mal_channel_ask(pid_t pid, uid_t uid, const char *request, int timeout_ms, size_t *length, struct mal_error *err);

/*
 * The same for a caller that must not believe or wait: nothing but whether the answer is "ok" is looked at, and no memory is taken.
 * False: it is not, or there is none.
 */
bool mal_channel_tell(pid_t pid, uid_t uid, const char *request, int timeout_ms);

#endif

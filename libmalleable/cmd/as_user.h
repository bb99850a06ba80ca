/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * as_user.h: root asks a user's controller, whose answer that user wrote: a child takes on the
 * user's identity first, and parses it. The user can stop that child or make it print anything. So
 * the caller waits for it with a deadline, and filters its output.
 */
#pragma once

#include <stdio.h>
#include <sys/types.h>

/* By when all controllers together have to answer, from now on. */
long mal_as_user_deadline(void);

/*
 * Call RUN with ARGUMENT as the user UID, in a child if that is not the caller: its output goes to
 * OUT, its standard error to ours. Returns what RUN returns (0 to 255), or -1 if no child could be
 * started or it was not done by DEADLINE_MS, and some time for itself.
 */
int mal_as_user(uid_t uid, gid_t gid, long deadline_ms, int (*run)(void *argument, FILE *out),
		void *argument, FILE *out);

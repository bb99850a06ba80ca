/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spawn.h: start a program that inherits nothing by accident, and end it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* The number of the first descriptor that is passed. */
#define MAL_SPAWN_FIRST_FD 3
/* Of a program with hidden words, at most. */
#define MAL_SPAWN_ARGUMENTS 80
#define MAL_SPAWN_FDS 40

struct mal_spawn {
	const char *path;
	const char *const *arguments;
	const char *const *hidden; /* behind these, what others must not read (hidden.h), or NULL */
	char *const *environment;
	const int *fds; /* they become MAL_SPAWN_FIRST_FD and following */
	unsigned int count;
	bool streams; /* it has the caller's standard streams, else /dev/null */
};

/*
 * Start a program in a session of its own. It gets no descriptors but these; signals are unblocked
 * and have their default actions, unlike in slurmd and slurmstepd. Does not copy the caller's
 * memory (posix_spawn(3)). Returns the process, or -1 with errno.
 */
pid_t mal_spawn(const struct mal_spawn *what);

/*
 * Wait until CHILD, a child process, ends; kill it at DEADLINE (a time of mal_now_ms()), which
 * takes 100 ms more at most; and reap it. Returns its exit status, -1 if a signal ended it. If
 * another thread reaped it first (slurmd may), its status is not known and 0 is returned.
 */
int mal_spawn_end(pid_t child, long deadline);

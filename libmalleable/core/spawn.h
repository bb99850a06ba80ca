/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spawn.h: starting a program of ours that inherits nothing by accident. */
#ifndef MAL_CORE_SPAWN_H
#define MAL_CORE_SPAWN_H

#include <sys/types.h>

/* The first descriptor that a program gets. */
#define MAL_SPAWN_FIRST_FD 3

/*
 * Start PATH with ARGUMENTS and ENVIRONMENT in a session of its own. FDS, COUNT of them, are its descriptors from MAL_SPAWN_FIRST_FD on;
 * standard streams are /dev/null, all others are closed. slurmd and slurmstepd block and ignore signals: none of that is
 * inherited. Nothing of the caller's memory is copied (posix_spawn(3)). Returns its process, or -1 with errno.
 */
pid_t mal_spawn(const char *path, const char *const *arguments, char *const *environment, const int *fds,
		unsigned int count);

#endif

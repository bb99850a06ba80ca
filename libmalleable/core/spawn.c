/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spawn.c: starting a program of ours that inherits nothing by accident. */
#include "libmalleable/core/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

/* While they are put in place, all of them are out of each other's way here. */
#define ASIDE_FD 210

static int plan_descriptors(posix_spawn_file_actions_t *actions, const int *fds, int count)
{
	int failed = 0;

	for (int i = 0; i < count; i++)
		failed |= posix_spawn_file_actions_adddup2(actions, fds[i], ASIDE_FD + i);
	for (int i = 0; i < count; i++)
		failed |= posix_spawn_file_actions_adddup2(actions, ASIDE_FD + i, MAL_SPAWN_FIRST_FD + i);
	for (int i = 0; i < MAL_SPAWN_FIRST_FD; i++)
		failed |= posix_spawn_file_actions_addopen(actions, i, "/dev/null", O_RDWR, 0);
	failed |= posix_spawn_file_actions_addclosefrom_np(actions, MAL_SPAWN_FIRST_FD + count);
	return failed ? -1 : 0;
}

static void plan_signals(posix_spawnattr_t *attributes)
{
	sigset_t set;

	sigemptyset(&set);
	posix_spawnattr_setsigmask(attributes, &set);
	sigfillset(&set);
	posix_spawnattr_setsigdefault(attributes, &set);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
}

pid_t mal_spawn(const char *path, const char *const *arguments, char *const *environment, const int *fds,
		unsigned int count)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t pid = -1;
	int failed;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	plan_signals(&attributes);
	failed = plan_descriptors(&actions, fds, (int)count);
	if (!failed)
		failed = posix_spawn(&pid, path, &actions, &attributes, (char *const *)arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	errno = failed > 0 ? failed : errno;
	return failed ? -1 : pid;
}

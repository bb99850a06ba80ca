/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spawn.c: start a program that inherits nothing by accident, and end it. */
#include "libmalleable/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/hidden.h"
#include "libmalleable/base/patience.h"

/* A killed process ends at once; one that the kernel keeps is not waited for. */
#define KILL_MS 100

/* The first number behind those of FDS and behind the places that they are to have. */
static int first_aside(const int *fds, int count)
{
	int aside = MAL_SPAWN_FIRST_FD + count;

	for (int i = 0; i < count; i++)
		aside = fds[i] >= aside ? fds[i] + 1 : aside;
	return aside;
}

/*
 * Descriptors are moved aside first, so that none overwrites another on its way to its place.
 * Returns 0, or the number of an error.
 */
static int plan_descriptors(posix_spawn_file_actions_t *actions, const int *fds, int count,
			    bool streams)
{
	int aside = first_aside(fds, count), failed = 0;

	for (int i = 0; !failed && i < count; i++)
		failed = posix_spawn_file_actions_adddup2(actions, fds[i], aside + i);
	for (int i = 0; !failed && i < count; i++)
		failed = posix_spawn_file_actions_adddup2(actions, aside + i,
							  MAL_SPAWN_FIRST_FD + i);
	for (int i = streams ? MAL_SPAWN_FIRST_FD : 0; !failed && i < MAL_SPAWN_FIRST_FD; i++)
		failed = posix_spawn_file_actions_addopen(actions, i, "/dev/null", O_RDWR, 0);
	if (failed)
		return failed;
	return posix_spawn_file_actions_addclosefrom_np(actions, MAL_SPAWN_FIRST_FD + count);
}

static void plan_signals(posix_spawnattr_t *attributes)
{
	sigset_t set;

	sigemptyset(&set);
	posix_spawnattr_setsigmask(attributes, &set);
	sigfillset(&set);
	posix_spawnattr_setsigdefault(attributes, &set);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						     POSIX_SPAWN_SETSID);
}

/* Returns the process, or -1 with errno. */
static pid_t spawn(const struct mal_spawn *what, const char *const *arguments, const int *fds,
		   int count)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t pid = -1;
	int failed;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	plan_signals(&attributes);
	failed = plan_descriptors(&actions, fds, count, what->streams);
	if (!failed)
		failed = posix_spawn(&pid, what->path, &actions, &attributes,
				     (char *const *)arguments, what->environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (!failed)
		return pid;
	errno = failed;
	return -1;
}

/* The words are in a descriptor behind the others. */
static pid_t spawn_hidden(const struct mal_spawn *what, int words)
{
	const char *arguments[MAL_SPAWN_ARGUMENTS + 3];
	int fds[MAL_SPAWN_FDS + 1];
	unsigned int count = 0;
	char number[16];

	for (; what->arguments[count] && count < MAL_SPAWN_ARGUMENTS; count++)
		arguments[count] = what->arguments[count];
	snprintf(number, sizeof(number), "%u", MAL_SPAWN_FIRST_FD + what->count);
	arguments[count++] = MAL_HIDDEN_OPTION;
	arguments[count++] = number;
	arguments[count] = NULL;
	for (unsigned int i = 0; i < what->count; i++)
		fds[i] = what->fds[i];
	fds[what->count] = words;
	return spawn(what, arguments, fds, (int)what->count + 1);
}

pid_t mal_spawn(const struct mal_spawn *what)
{
	int words, failed;
	pid_t pid;

	if (!what->hidden)
		return spawn(what, what->arguments, what->fds, (int)what->count);
	words = mal_hidden_make(what->hidden);
	if (words < 0)
		return -1;
	pid = spawn_hidden(what, words);
	failed = errno;
	close(words);
	errno = failed;
	return pid;
}

/* Without a descriptor, as when none is free. Returns whether the child ended by itself. */
static bool wait_by_number(pid_t child, int *status, long deadline)
{
	const struct timespec pause = {0, 2000000};
	bool ended;

	while (!(ended = waitpid(child, status, WNOHANG) != 0) && mal_now_ms() < deadline)
		nanosleep(&pause, NULL);
	if (!ended)
		kill(child, SIGKILL);
	return ended;
}

int mal_spawn_end(pid_t child, long deadline)
{
	/* Another thread may reap the child, and its number be used again: a pidfd stays valid. */
	int pidfd = (int)syscall(SYS_pidfd_open, child, 0), status = 0;
	bool ended = pidfd < 0 ? wait_by_number(child, &status, deadline)
			       : mal_descriptor_wait(pidfd, POLLIN, deadline);

	if (!ended && pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
		mal_descriptor_wait(pidfd, POLLIN, mal_now_ms() + mal_patience_ms(KILL_MS));
	}
	if (pidfd >= 0)
		close(pidfd);
	if (pidfd >= 0 || !ended)
		waitpid(child, &status, WNOHANG);
	return ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

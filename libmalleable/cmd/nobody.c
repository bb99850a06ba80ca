/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nobody.c: what users wrote is read in a child that has given up root. */
#include "libmalleable/cmd/nobody.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* NO_GROUP was an error once, as -1 in 16 bits: it is given to no one. */
enum { NOBODY = 65534, NO_GROUP = 65535 };
/* Accounts of people have larger numbers: one of them may be called as ours is. */
#define SYSTEM_UID_MAX 999

/* The system's user malleable where there is one, else nobody. NULL: there is neither. */
static const struct passwd *find_user(void)
{
	const struct passwd *user = getpwnam("malleable");

	if (user && user->pw_uid > 0 && user->pw_uid <= SYSTEM_UID_MAX)
		return user;
	return getpwnam("nobody");
}

static int give_up_root(uid_t uid, gid_t gid, pid_t parent)
{
	/*
	 * prlimit(2) wants the caller's group to be all three of the other's, which no group is.
	 * Else a process of that user could make us miss files: by limits of descriptors, memory.
	 */
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, NO_GROUP) < 0 ||
	    setresuid(uid, uid, uid) < 0)
		return -1;
	/* Nor may it look at what root opened (fs.suid_dumpable). */
	prctl(PR_SET_DUMPABLE, 0);
	/* It must not go on without us, and print what a part of the files adds up to. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

pid_t mal_nobody_start(const char *command, int (*run)(void *argument), void *argument)
{
	const struct passwd *user = find_user();
	uid_t uid = user ? user->pw_uid : NOBODY;
	gid_t gid = user ? user->pw_gid : NOBODY;
	pid_t child, parent = getpid();

	/* Where whoever started us ignores it, there is nothing to wait for. */
	signal(SIGCHLD, SIG_DFL);
	child = fork();
	if (child < 0)
		fprintf(stderr, "malleable %s: cannot start a reader: %s\n", command,
			strerror(errno));
	if (child)
		return child;
	/* Into root's terminal input could be injected, and it could stop us. */
	setsid();
	if (give_up_root(uid, gid, parent) == 0)
		_exit(run(argument));
	fprintf(stderr, "malleable %s: cannot give up root: %s\n", command, strerror(errno));
	_exit(1);
}

int mal_nobody_end(const char *command, pid_t child)
{
	int status;

	while (waitpid(child, &status, WUNTRACED) < 0)
		if (errno != EINTR)
			return 1;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* Who reads what is printed has seen enough. */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
		raise(SIGPIPE);
	if (WIFSTOPPED(status)) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	fprintf(stderr, "malleable %s: the process that reads the files was stopped or killed\n",
		command);
	return 1;
}

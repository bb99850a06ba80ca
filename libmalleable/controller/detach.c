/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* detach.c: the controller leaves its parent, root, and the reach of signals. */
#include "libmalleable/controller/detach.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/base/descriptor.h"
#include "libmalleable/core/segment.h"

/* "0" is the process that writes it (cgroups(7)). */
static int enter_cgroups(const struct mal_arguments *how, struct mal_error *err)
{
	for (unsigned int i = 0; i < how->cgroup_count; i++) {
		ssize_t written = write(how->cgroup_fds[i], "0", 1);

		if (written != 1)
			return mal_fail_errno(err, "cannot enter the step's cgroup");
		close(how->cgroup_fds[i]);
	}
	return 0;
}

/* slurmstepd is exempt from the OOM killer (-1000), and its children inherit that. */
static int reset_oom_score(struct mal_error *err)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, "0", 1) == 1;

	if (fd >= 0)
		close(fd);
	return done ? 0 : mal_fail_errno(err, "cannot reset the OOM score");
}

static int become_user(const struct mal_arguments *how, struct mal_error *err)
{
	if (setresgid(how->group, how->group, how->group) < 0 ||
	    setresuid(how->user, how->user, how->user) < 0)
		return mal_fail_errno(err, "cannot become user %u", (unsigned int)how->user);
	if (how->user != 0 && setuid(0) == 0)
		return mal_fail(err, "user %u could become root again", (unsigned int)how->user);
	return 0;
}

/*
 * In the parent, as whoever started us: hand over CHILD, which cannot be another process before we
 * reap it.
 */
static void hand_over(int start_fd, pid_t child)
{
	int pidfd = (int)syscall(SYS_pidfd_open, child, 0);

	if (pidfd < 0 || mal_descriptor_send(start_fd, pidfd, "", 1) < 0)
		_exit(1);
	_exit(0);
}

static int detach(const struct mal_arguments *how, struct mal_error *err)
{
	pid_t child;

	if (how->layout && how->layout != MAL_SEGMENT_VERSION)
		return mal_fail(err, "it is of another build, of malleable " PACKAGE_VERSION);
	if (enter_cgroups(how, err) < 0 || (how->becomes_user && reset_oom_score(err) < 0))
		return -1;
	/*
	 * Set before there is a process of the user's, kept over its change of ids (prctl(2)):
	 * nobody else may trace it.
	 */
	prctl(PR_SET_DUMPABLE, 0);
	child = fork();
	if (child < 0)
		return mal_fail_errno(err, "cannot fork");
	if (child > 0)
		hand_over(how->start_fd, child);
	return 0;
}

int mal_detach(const struct mal_arguments *how, struct mal_error *err)
{
	if (detach(how, err) < 0) {
		mal_descriptor_send(how->start_fd, -1, err->text, strlen(err->text));
		return -1;
	}
	close(how->start_fd);
	if (how->becomes_user && become_user(how, err) < 0)
		return -1;
	/*
	 * The kernel's default for a change of ids is a setting of the machine's
	 * (fs.suid_dumpable).
	 */
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return 0;
}

void mal_wake_at_end(int life_fd)
{
	int flags = fcntl(life_fd, F_GETFL);

	if (flags >= 0 && fcntl(life_fd, F_SETOWN, getpid()) == 0 &&
	    fcntl(life_fd, F_SETSIG, SIGCONT) == 0)
		fcntl(life_fd, F_SETFL, flags | O_ASYNC);
}

void mal_ignore_signals(void)
{
	static const int kept[] = {SIGCHLD, SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
				   SIGABRT, SIGSYS,  SIGTRAP, SIGCONT};

	for (int number = 1; number <= SIGRTMAX; number++) {
		bool keep = false;

		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			keep |= number == kept[i];
		/* KILL, STOP, and those of the C library itself cannot be changed: that is fine. */
		if (!keep)
			signal(number, SIG_IGN);
	}
}

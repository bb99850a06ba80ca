/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* detach.c: the controller leaves its parent, and root. */
#include "libmalleable/controller/detach.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

int mal_give_up_root(struct mal_error *err)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	/* Our effective ids are among those that a process without privilege may make its only ones (setresuid(2)). */
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return mal_fail_errno(err, "cannot become user %u", (unsigned int)uid);
	if (uid != 0 && setuid(0) == 0)
		return mal_fail(err, "user %u could become root again", (unsigned int)uid);
	/* A change of ids closes /proc/PID to the user, whose ranks may need it to open the segment (proc(5)). */
	prctl(PR_SET_DUMPABLE, 1);
	return 0;
}

/* slurmstepd is exempt from the OOM killer (-1000), and its children inherit that. */
static void reset_oom_score(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		/* Raising it is always allowed; where it is not needed nothing is lost. */
		ssize_t ignored = write(fd, "0", 1);

		(void)ignored;
		close(fd);
	}
}

int mal_detach(int report_fd, struct mal_error *err)
{
	pid_t pid = fork();

	if (pid < 0)
		return mal_fail_errno(err, "cannot fork");
	if (pid > 0) {
		ssize_t said = write(report_fd, &pid, sizeof(pid));

		_exit(said == (ssize_t)sizeof(pid) ? 0 : 1);
	}
	reset_oom_score();
	return 0;
}

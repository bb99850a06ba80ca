/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * as_user.c: root asks a user's controller: in a child that becomes the user, behind pipes, with a
 * deadline.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/base/spawn.h"
#include "libmalleable/cmd/as_user.h"

/* For all controllers together, and how long one may still take when that is used up. */
#define ALL_MS 5000
#define EACH_MS 200
/* Output that is accepted from one controller. */
#define OUTPUT_MAX (4u << 20)

enum { OUT, ERR, STREAMS };

/* Write a user's text to root's terminal. */
static void copy_clean(FILE *to, char *text, size_t length)
{
	mal_make_printable(text, length, true);
	fwrite(text, 1, length, to);
}

/*
 * Become the user, without our terminal, into which input could be injected, and without our
 * descriptors.
 */
static bool become(uid_t uid, gid_t gid, const int *ends)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null < 0 || setsid() < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(ends[OUT], STDOUT_FILENO) < 0 || dup2(ends[ERR], STDERR_FILENO) < 0 ||
	    syscall(SYS_close_range, 3u, ~0u, 0u) < 0)
		return false;
	prctl(PR_SET_DUMPABLE, 0);
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 ||
	    setresuid(uid, uid, uid) < 0 || setuid(0) == 0)
		return false;
	prctl(PR_SET_DUMPABLE, 0);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* Copy the child's output until it closes its ends. Returns false if it has not by DEADLINE. */
static bool copy(const int *ends, FILE *const *to, long deadline)
{
	struct pollfd wait[STREAMS] = {{ends[OUT], POLLIN, 0}, {ends[ERR], POLLIN, 0}};
	size_t total = 0;
	char text[8192];

	while (wait[OUT].fd >= 0 || wait[ERR].fd >= 0) {
		long left = deadline - mal_now_ms();

		if (left <= 0 || total > OUTPUT_MAX)
			return false;
		if (poll(wait, STREAMS, (int)left) < 0 && errno != EINTR)
			return false;
		for (int i = 0; i < STREAMS; i++) {
			ssize_t got = wait[i].fd >= 0 && wait[i].revents
					      ? read(wait[i].fd, text, sizeof(text))
					      : -1;

			if (got > 0)
				copy_clean(to[i], text, (size_t)got);
			else if (wait[i].fd >= 0 && wait[i].revents)
				wait[i].fd = -1;
			total += got > 0 ? (size_t)got : 0;
		}
	}
	return true;
}

long mal_as_user_deadline(void)
{
	return mal_now_ms() + mal_patience_ms(ALL_MS);
}

int mal_as_user(uid_t uid, gid_t gid, long deadline_ms, int (*run)(void *argument, FILE *out),
		void *argument, FILE *out)
{
	long latest = mal_now_ms() + mal_patience_ms(EACH_MS), deadline = deadline_ms;
	int pipes[STREAMS][2], result = -1;
	pid_t child;

	if (uid == geteuid())
		return run(argument, out);
	deadline = deadline > latest ? deadline : latest;
	fflush(NULL);
	if (pipe2(pipes[OUT], O_CLOEXEC) < 0)
		return -1;
	if (pipe2(pipes[ERR], O_CLOEXEC) < 0) {
		close(pipes[OUT][0]);
		close(pipes[OUT][1]);
		return -1;
	}
	child = fork();
	if (child == 0) {
		const int ends[STREAMS] = {pipes[OUT][1], pipes[ERR][1]};
		int status = become(uid, gid, ends) ? run(argument, stdout) : 255;

		fflush(NULL);
		_exit(status);
	}
	close(pipes[OUT][1]);
	close(pipes[ERR][1]);
	if (child > 0) {
		const int ends[STREAMS] = {pipes[OUT][0], pipes[ERR][0]};
		FILE *const to[STREAMS] = {out, stderr};
		bool whole = copy(ends, to, deadline);

		result = mal_spawn_end(child, whole ? deadline : 0);
	}
	close(pipes[OUT][0]);
	close(pipes[ERR][0]);
	return result;
}

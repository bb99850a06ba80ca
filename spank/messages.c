/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * messages.c: lines in Slurm's logs and on terminals.
 *
 * Much of what they quote comes from users. It must not end a line, so that the rest looks like a
 * line of ours, nor move a terminal's cursor.
 *
 * slurmstepd's standard error is that of the first task, possibly a pipe of the user's. If that
 * accepts nothing Slurm waits 5 s for each line (22.05), and longer where it filled after Slurm
 * looked, which holds up the node. So Slurm writes into a pipe of ours, and we pass that on.
 *
 * Invariant: slurmstepd never blocks on a user's standard error (t/t4506-waiting.t).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/printable.h"
#include "spank/deadline.h"
#include "spank/plugin.h"

#define OURS "balance: "
/* How a step's own line goes on. */
#define STEPS "uid="
/* How long the user's standard error may block in all. */
#define READY_MS 1000

/* In slurmstepd: this node's number in the step, and "NAME: " where there are others. */
static struct {
	uint32_t number;
	char name[68];
} node;

/* In slurmstepd: errors are for slurmd's log alone. */
static bool log_alone;

/* Standard error, for writing without waiting. -1: nobody reads it. */
static int open_stderr(void)
{
	struct stat status;

	if (fstat(STDERR_FILENO, &status) < 0)
		return -1;
	/* Opened anew: O_NONBLOCK would hold for the user's own descriptor too. */
	if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
		int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

		/* In a task's process, which is the user's: that may wait. */
		if (fd >= 0 || errno != EACCES)
			return fd;
	}
	return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
}

/* Write TEXT to standard error. Returns false if that does not accept all of it in time. */
static bool pass_on(const char *text, size_t length)
{
	long deadline = mal_now_ms() + balance_deadline_left(READY_MS);
	int fd = open_stderr();

	while (length && mal_descriptor_wait(fd, POLLOUT, deadline)) {
		ssize_t written = write(fd, text, length);

		if (written < 0 && (errno != EAGAIN || mal_now_ms() >= deadline))
			break;
		text += written > 0 ? written : 0;
		length -= written > 0 ? (size_t)written : 0;
	}
	if (fd >= 0)
		close(fd);
	return length == 0;
}

/*
 * Replace standard error by a pipe: what Slurm writes meanwhile, also in other threads, can be read
 * from *CAUGHT afterwards. Returns a copy of it, or -1: there are no descriptors.
 */
static int set_stderr_aside(int *caught)
{
	int ends[2], kept;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (kept >= 0)
		dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	*caught = ends[0];
	if (kept < 0)
		close(ends[0]);
	return kept;
}

static void put_stderr_back(int kept, int caught)
{
	char text[8192];
	bool told = !log_alone;
	ssize_t got;

	dup2(kept, STDERR_FILENO);
	close(kept);
	while ((got = read(caught, text, sizeof(text))) > 0)
		told = told && pass_on(text, (size_t)got);
	close(caught);
}

/*
 * Let WRITER, a function of Slurm's, write TEXT. Outside slurmstepd standard error is the caller's
 * own.
 */
static void put_line(void (*writer)(const char *format, ...), const char *text)
{
	bool remote = spank_context() == S_CTX_REMOTE;
	int caught, kept = remote ? set_stderr_aside(&caught) : -1;

	if (remote && kept < 0 &&
	    (log_alone || !mal_descriptor_wait(STDERR_FILENO, POLLOUT, mal_now_ms())))
		return;
	writer("%s", text);
	if (kept >= 0)
		put_stderr_back(kept, caught);
}

/* Not by Slurm, which writes each line to slurmd's log too. */
bool balance_tell_user(const char *text)
{
	char line[1024];
	int length = snprintf(line, sizeof(line), "balance: %s\n", text);

	return length < (int)sizeof(line) && pass_on(line, (size_t)length);
}

void balance_errors_to_log(bool alone)
{
	log_alone = alone;
}

void balance_errors_from_node(uint32_t number, uint32_t count)
{
	char name[65] = "?";

	gethostname(name, sizeof(name) - 1);
	node.number = number;
	snprintf(node.name, sizeof(node.name), "%s: ", name);
	if (count <= 1)
		node.name[0] = '\0';
}

/* What a line quotes looks like no line of ours, nor does it begin as a step's (step_log.c). */
static void keep_apart(char *text)
{
	char *at = text;

	if (strncmp(text, STEPS, strlen(STEPS)) == 0)
		text[strlen(STEPS) - 1] = '?';
	while ((at = strstr(at, OURS)))
		at[strlen(OURS) - 2] = '?';
}

void balance_put(enum balance_line line, const char *format, ...)
{
	bool info = line == BALANCE_INFO || (line == BALANCE_ERROR_OF_STEP && node.number);
	char text[1024];
	size_t used = (size_t)snprintf(text, sizeof(text), OURS "%s",
				       line == BALANCE_ERROR ? node.name : "");
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, sizeof(text) - used, format, args);
	va_end(args);
	mal_make_printable(text, strlen(text), false);
	keep_apart(text + strlen(OURS));
	put_line(info ? slurm_info : slurm_error, text);
}

void balance_log_step(const char *line)
{
	char text[1024];

	snprintf(text, sizeof(text), OURS "%s", line);
	put_line(slurm_info, text);
}

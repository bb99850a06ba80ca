/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * say.c: lines in Slurm's logs and on terminals.
 *
 * Much of what they quote comes from users. It must not end a line, so that the rest looks like a
 * line of ours, nor move a terminal's cursor.
 *
 * slurmstepd's standard error is that of the first task, possibly a pipe of the user's. If that
 * accepts nothing Slurm waits 5 s for each line (22.05), which holds up the node: poll it first.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "spank/deadline.h"
#include "spank/plugin.h"

/* How long the user's standard error may block in all. */
#define READY_MS 1000

void balance_make_printable(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/*
 * Whether standard error accepts a line before the deadline. Outside slurmstepd it is the caller's
 * own.
 */
static bool is_ready(void)
{
	struct pollfd wait = {.fd = STDERR_FILENO, .events = POLLOUT};

	return spank_context() != S_CTX_REMOTE ||
	       poll(&wait, 1, balance_deadline_left(READY_MS)) != 0;
}

/*
 * Redirect standard error to /dev/null, so that a line goes to Slurm's log only. Returns a copy of
 * it, or -1.
 */
static int set_stderr_aside(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC),
	    kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);

	if (null >= 0 && kept >= 0)
		dup2(null, STDERR_FILENO);
	if (null >= 0)
		close(null);
	return kept;
}

static void put_stderr_back(int kept)
{
	if (kept < 0)
		return;
	dup2(kept, STDERR_FILENO);
	close(kept);
}

bool balance_tell_user(const char *text)
{
	bool ready = is_ready();

	if (ready)
		slurm_spank_log("balance: %s", text);
	return ready;
}

/* Print a line with SAY, which is slurm_error or slurm_info. */
static void put_line(void (*say)(const char *format, ...), char *text)
{
	int kept = is_ready() ? -1 : set_stderr_aside();

	balance_make_printable(text);
	say("%s", text);
	put_stderr_back(kept);
}

void balance_error(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put_line(slurm_error, text);
}

void balance_info(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put_line(slurm_info, text);
}

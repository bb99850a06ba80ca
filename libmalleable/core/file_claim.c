/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * file_claim.c: files that a user named once, and that several steps write.
 *
 * Invariant: two steps never write to one file (t/unit/test_core.c: claims_hold).
 */
#include "libmalleable/core/file_claim.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/output.h"

#define DIGITS "0123456789"
/* A report and a trace name their step within so many bytes. */
#define HEAD 4096

/* Length of "JOB." in JOB.STEP; 0: STEP is none. */
static size_t job_length(const char *step)
{
	size_t digits = strspn(step, DIGITS);

	return digits && step[digits] == '.' ? digits + 1 : 0;
}

/* Whether FD is a report or a trace of another step of STEP's job. */
static bool is_of_same_job(int fd, const char *step)
{
	static const char key[] = "\"step\":";
	char head[HEAD + 1];
	ssize_t length = pread(fd, head, HEAD, 0);
	const char *at;

	if (length <= 0 || !job_length(step))
		return false;
	head[length] = '\0';
	at = strstr(head, key);
	if (!at)
		return false;
	at += strlen(key);
	at += strspn(at, " \"");
	return strncmp(at, step, job_length(step)) == 0 &&
	       (strncmp(at, step, strlen(step)) != 0 || at[strlen(step)] != '"');
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec >= b->tv_nsec);
}

/* Whether the file that is FD is another's; if not it is locked. */
static bool is_taken(int fd, const struct mal_file_claimant *by)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	/* Some file systems have no locks: there the time alone tells. */
	return (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) ||
	       fstat(fd, &status) < 0 ||
	       (status.st_size && is_later(&status.st_mtim, &by->since)) ||
	       is_of_same_job(fd, by->step);
}

/* A stream of the process's own: in the controller that is nothing of the user's. */
static bool is_stream(const char *path)
{
	static const char *const prefixes[] = {"/dev/std", "/dev/fd/", "/proc/self/"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* The file of the step's own, instead of PATH. */
static FILE *claim_own(const char **path, const char *what, const struct mal_file_claimant *by,
		       char *own, size_t size, struct mal_error *note)
{
	int length = job_length(by->step) ? snprintf(own, size, "%s.%s", *path, by->step)
					  : snprintf(own, size, "%s.%d", *path, (int)getpid());
	int fd = -1;

	if (length < (int)size) {
		fd = mal_output_derive(own, what, note);
		if (fd < 0)
			return NULL;
	}
	if (fd < 0 || is_taken(fd, by)) {
		mal_fail(note, "cannot write the %s to %s: it is another step's", what, *path);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	mal_fail(note, "the %s is in %s, as the file without %s is another step's", what, own,
		 own + strlen(*path));
	*path = own;
	return mal_output_take(fd, own, what, note);
}

FILE *mal_file_claim(const char **path, bool derived, const char *what,
		     const struct mal_file_claimant *by, char *own, size_t size,
		     struct mal_error *note)
{
	int fd;

	note->text[0] = '\0';
	if (is_stream(*path)) {
		mal_fail(note, "cannot write the %s to %s: name a file", what, *path);
		return NULL;
	}
	fd = derived ? mal_output_derive(*path, what, note) : mal_output_named(*path);
	if (fd < 0 && derived)
		return NULL;
	if (fd < 0 || !is_taken(fd, by))
		return mal_output_take(fd, *path, what, note);
	close(fd);
	return claim_own(path, what, by, own, size, note);
}

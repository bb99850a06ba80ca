/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* job_path.c: a job's directory in the path of a cgroup of Slurm's. */
#include "libmalleable/core/job_path.h"

#include <stdbool.h>
#include <string.h>

/* A SLUID is an s and 13 digits of base 32, which has no I, L, O and U. */
#define SLUID_DIGITS "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#define SLUID_LENGTH 14

/* Whether the first LENGTH characters of NAME are the name of a job's directory. */
static bool is_job(const char *name, size_t length)
{
	if (length > 4 && strncmp(name, "job_", 4) == 0)
		return strspn(name + 4, "0123456789") == length - 4;
	return length == SLUID_LENGTH && *name == 's' &&
	       strspn(name + 1, SLUID_DIGITS) == length - 1;
}

const char *mal_job_path_end(const char *path)
{
	const char *found = NULL;

	/* Where a slurmd runs in a job of another Slurm, the last is its own. */
	for (path = strchr(path, '/'); path; path = strchr(path, '/')) {
		size_t length = strcspn(++path, "/");

		if (is_job(path, length))
			found = path + length;
	}
	return found;
}

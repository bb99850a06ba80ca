/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * file_claim.h: files that a user named once, and that several steps write: each gets one of its
 * own.
 */
#ifndef MAL_CORE_FILE_CLAIM_H
#define MAL_CORE_FILE_CLAIM_H

#include <stddef.h>
#include <time.h>

#include "libmalleable/base/error.h"

/* Who writes. */
struct mal_file_claimant {
	const char *step;      /* JOB.STEP, or a command outside Slurm */
	struct timespec since; /* when it began, by CLOCK_REALTIME */
};

/*
 * Claim PATH, before it is opened for writing, until this process ends. It is taken while another
 * process has claimed it, if something was written into it since BY began, and if it is the report
 * or trace of another step of the same job. Then PATH.JOB.STEP is claimed (outside Slurm PATH.PID),
 * which is written into OWN, of SIZE bytes. WHAT names the content. Returns the name to write, PATH
 * or OWN, or NULL: both are taken, or PATH is a stream, such as /dev/stdout, which is another one
 * for the controller. NOTE is what to tell the user, empty for PATH. PATH is not emptied, and what
 * else is wrong with it is for who opens it.
 */
const char *mal_file_claim(const char *path, const char *what, const struct mal_file_claimant *by,
			   char *own, size_t size, struct mal_error *note);

#endif

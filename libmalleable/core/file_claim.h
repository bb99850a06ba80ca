/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * file_claim.h: files that a user named once, and that several steps write: each gets one of its
 * own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "libmalleable/base/error.h"

/* Who writes. */
struct mal_file_claimant {
	const char *step;      /* JOB.STEP, or a command outside Slurm */
	struct timespec since; /* when it began, by CLOCK_REALTIME */
};

/*
 * Claim the file *PATH and open it for writing, empty. It is claimed until it is closed. It is
 * taken while another process has claimed it, if something was written into it since BY began, and
 * if it is the report or trace of another step of the same job. Then it is PATH.JOB.STEP (outside
 * Slurm PATH.PID), which is written into OWN, of SIZE bytes, and *PATH points there. Nobody named
 * that, nor a part of PATH if it is DERIVED: such a file has to be a new one or the user's own, and
 * no link. WHAT is the content (mal_output_take()). Returns a file to close with
 * mal_output_close(), or NULL: it cannot be written, it is neither empty nor an earlier WHAT, both
 * are taken, or *PATH is a stream, such as /dev/stdout, which is another one for the controller.
 * NOTE is what to tell the user, empty for a file that was claimed as it
 * was named.
 */
FILE *mal_file_claim(const char **path, bool derived, const char *what,
		     const struct mal_file_claimant *by, char *own, size_t size,
		     struct mal_error *note);

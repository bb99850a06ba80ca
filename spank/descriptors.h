/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * descriptors.h: the descriptors that a balanced step or script has between callbacks.
 *
 * Not thread safe.
 */
#pragma once

#include "libmalleable/base/error.h"
#include "libmalleable/core/launch.h"

/* Where slurmstepd has no room for all that a child left, the last ones are lost. */
struct balance_descriptors {
	union {
		int all[7];
		struct {
			int segment; /* -1: none */
			struct mal_launched controller;
			int script; /* the pipe of a batch script (core/script.h), -1: none */
			int site;   /* room for the site's report (core/site_report.h), -1: none */
			int handovers; /* pipe of its launchers' figures (core/handover.h), or -1 */
		};
	};
};

/* Where user_init is run in a child, it leaves them in slurmstepd. Returns 0, or -1 with ERR. */
int balance_descriptors_leave(struct balance_descriptors *fds, struct mal_error *err);

/* Get back what user_init left in slurmstepd, if it did. */
void balance_descriptors_take(struct balance_descriptors *fds);

/* The same in a task, as a copy: its program inherits the segment. */
void balance_descriptors_copy(struct balance_descriptors *fds);

/* Close what the step uses itself. */
void balance_descriptors_close(struct balance_descriptors *fds);

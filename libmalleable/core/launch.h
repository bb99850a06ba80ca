/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * launch.h: start and end the controller, from slurmstepd or from `malleable run`.
 *
 * malleabled starts as the caller, root in slurmstepd. It enters the step's cgroups, forks, passes
 * its child to the caller as a descriptor (pidfd_open(2)) and ends; only then the child becomes the
 * user. Until then no process of the user may signal, trace or read it. At the end root signals
 * exactly that process, whatever any user wrote anywhere.
 */
#pragma once

#include <stdbool.h>

#include "libmalleable/base/error.h"
#include "libmalleable/core/arguments.h"

struct mal_launch_options {
	const char *path; /* of malleabled */
	/* All but what mal_launch() sets: patience, layout, life_fd, report_fd and start_fd. */
	struct mal_arguments arguments;
	/*
	 * pass hwloc's variables of our environment on: only where the user starts the controller
	 */
	bool users_topology;
};

/* A running controller. */
struct mal_launched {
	int pidfd;  /* of the controller, -1: none */
	int life;   /* write end: closing it ends the controller */
	int report; /* read end of its report */
};

/* No controller. */
#define MAL_LAUNCHED_NONE ((struct mal_launched){-1, -1, -1})

/*
 * Start the controller within TIMEOUT_MS. It detaches itself from its parent, because slurmstepd
 * takes each of its children for a task. Spawned without copying the caller's memory: two forks of
 * slurmstepd took 10 ms (measured). Its signals, descriptors and standard streams are its own. The
 * caller keeps the descriptors in OPTIONS. Returns 0, or -1 with ERR: there is no controller, or it
 * will end by itself.
 */
int mal_launch(struct mal_launched *controller, const struct mal_launch_options *options,
	       int timeout_ms, struct mal_error *err);

/*
 * End the controller within TIMEOUT_MS: close its life pipe, read its report into TEXT (cut at SIZE
 * bytes, terminated), wait for its exit, and kill it after four fifths of the time. Returns whether
 * it ended by itself.
 */
bool mal_launched_end(struct mal_launched *controller, int timeout_ms, char *text, size_t size);

/* In a forked child: close our ends without ending the controller. */
void mal_launched_forget(struct mal_launched *controller);

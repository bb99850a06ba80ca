/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* helper.h: starting the controller and ending it, from slurmstepd or from `malleable run`. */
#ifndef MAL_CORE_HELPER_H
#define MAL_CORE_HELPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "libmalleable/core/error.h"

/* The controller's descriptors. */
#define MAL_HELPER_SEGMENT_FD 3
#define MAL_HELPER_LIFE_FD 4
#define MAL_HELPER_REPORT_FD 5
#define MAL_HELPER_AGENT_FD 6

struct mal_helper_options {
	const char *path; /* of malleabled */
	int segment_fd;
	const char *policy;
	const char *cpus;
	const char *idle; /* NULL: none */
	const char *step;
	const char *node;
	const char *report_file; /* NULL: none */
	const char *allowed;	 /* policies that may be set later, NULL: all */
	const char *libdir;	 /* where loadable policies are */
	const char *trace_file;	 /* NULL: none */
	int agent_fd;		 /* connection to the node's agent (agent.h), -1: none */
	const char *off_file;	 /* the administrator's switch (admin.h), NULL: none */
	unsigned int nodes;	 /* of the step, 0: it is not over several */
	const char *hostfile;	 /* where a better placement on them goes, NULL: nowhere */
	unsigned int min_cpus;	 /* that every rank keeps, 0: one */
	bool users_topology; /* hwloc's variables of our environment reach the controller: only where the user started it */
};

struct mal_helper {
	pid_t pid;
	int pidfd;
	int life;   /* write end: closing it ends the controller */
	int report; /* read end of its text */
};

/*
 * Start the controller. It detaches itself from its parent, because slurmstepd takes every child of its own for a task,
 * and gives up root for good where the caller's effective user is another one (see controller/detach.h). It is spawned
 * without copying the caller's memory: two forks of slurmstepd took 10 ms (measured). Its signal mask, signal
 * handlers, descriptors and standard streams are its own. Returns 0, or -1 with ERR.
 */
int mal_helper_start(struct mal_helper *helper, const struct mal_helper_options *options, struct mal_error *err);

/*
 * End it: tell it, read its report into TEXT (cut at SIZE bytes, always terminated), wait TIMEOUT_MS at most for its
 * exit, then kill it and wait on. Returns true if it left by itself.
 */
bool mal_helper_end(struct mal_helper *helper, int timeout_ms, char *text, size_t size);

/* In a forked child: drop our ends without ending the controller. */
void mal_helper_forget(struct mal_helper *helper);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * launch.h: start and end the controller, from slurmstepd or from `malleable run`.
 *
 * malleabled starts as the caller, root in slurmstepd. It enters the step's cgroups, forks, passes
 * its child to the caller as a descriptor (pidfd_open(2)) and ends; only then the child becomes the
 * user. Until then no process of the user may signal, trace or read it. At the end root signals
 * exactly that process, whatever any user wrote anywhere.
 */
#ifndef MAL_CORE_LAUNCH_H
#define MAL_CORE_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "libmalleable/base/error.h"

/* Cgroups that the controller is put into at most, one per hierarchy. */
#define MAL_LAUNCH_CGROUPS 4

struct mal_launch_options {
	const char *path; /* of malleabled */
	int segment_fd;
	const char *policy;
	const char *cpus;
	const char *idle; /* NULL: none */
	const char *step;
	const char *node;
	const char *report_file; /* NULL: none */
	/* a new file of the site's, created before the controller becomes the user; NULL: none */
	const char *site_report;
	const char *allowed;	/* policies that may be set later, NULL: all */
	const char *libdir;	/* directory of loadable policies */
	const char *trace_file; /* NULL: none */
	const char *socket;	/* path of its socket, NULL: none */
	int listen_fd;		/* that socket, listening; -1: none */
	int agent_fd;		/* connection to the node's agent (agent_protocol.h), -1: none */
	int cgroup_fds[MAL_LAUNCH_CGROUPS]; /* cgroup.procs of these, open for writing */
	unsigned int cgroup_count;
	const char *off_file;  /* the administrator's off switch (admin.h), NULL: none */
	unsigned int nodes;    /* of the step, 0: it has one */
	const char *hostfile;  /* file for a better placement on the nodes, NULL: none */
	unsigned int min_cpus; /* minimum of each rank, 0: one */
	bool becomes_user;     /* the caller is root; the controller becomes USER, GROUP */
	uid_t user;
	gid_t group;
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

#endif

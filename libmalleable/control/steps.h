/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * steps.h: find the balanced steps on this node by their controllers' sockets, and send them
 * requests.
 *
 * A controller's answer was written by its user, and is parsed as that user, never as root.
 */
#pragma once

#include <jansson.h>
#include <sys/types.h>

#include "libmalleable/base/error.h"
#include "libmalleable/core/rundir.h"

/* A running controller. */
struct mal_controller_process {
	char socket[MAL_SOCKET_PATH];
	uid_t uid;
	gid_t gid;
};

struct mal_steps {
	size_t count;
	struct mal_controller_process *controllers; /* sorted by socket */
	size_t others;				    /* controllers of other users, not listed */
	/* why those of mpirun and `malleable run` are not listed; empty: they are */
	struct mal_error hidden;
};

/*
 * Find the controllers on this node: root gets those of all users' steps, a user the user's own,
 * and both their own of `malleable run`. Returns 0, or -1 with ERR. Free STEPS with
 * mal_steps_clear().
 */
int mal_steps_find(struct mal_steps *steps, struct mal_error *err);

void mal_steps_clear(struct mal_steps *steps);

#define MAL_STEP_NAME 160

/*
 * The name of a step, which no other running step of the caller's has: JOB.STEP; of mpirun and of
 * `malleable run` NAME.PID. Only these are asked for it, and are the caller's own. Returns 0, or -1
 * with ERR.
 */
int mal_step_name(const struct mal_controller_process *controller, char name[MAL_STEP_NAME],
		  struct mal_error *err);

/*
 * Ask a controller for the status of its step. Returns it, for the caller to release, or NULL with
 * ERR if the controller is gone or its answer invalid.
 */
json_t *mal_step_status(const struct mal_controller_process *controller, struct mal_error *err);

/* How long a controller may take to answer, times the patience. */
#define MAL_STEP_TIMEOUT_MS 2000

/* The enum malleable_control_error of a controller that did not answer: it is gone, or slow. */
int mal_step_no_answer(const struct mal_controller_process *controller);

/* What an ANSWER, which is changed, means: 0, or MALLEABLE_CONTROL_REFUSED with ERR. */
int mal_step_read_answer(char *answer, struct mal_error *err);

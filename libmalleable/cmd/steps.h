/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * steps.h: find the balanced steps on this node by their controllers' sockets, and send them
 * requests.
 *
 * A controller's answer was written by its user. It is parsed as that user, never as root: if the
 * caller is another user, a child takes on the user's identity first. The user can stop that child
 * or make it print anything. So the caller waits for it with a deadline, and filters its output.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "libmalleable/base/error.h"
#include "libmalleable/core/rundir.h"

/* A running controller. */
struct mal_controller_process {
	char socket[MAL_SOCKET_PATH];
	uid_t uid;
	gid_t gid;
	long deadline_ms; /* of mal_now_ms(), shared with the controllers asked before */
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

/*
 * Whether the step NAME matches WANTED: JOB, JOB.STEP, or NAME.PID with or without PID. NULL
 * matches all.
 */
bool mal_step_matches(const char *name, const char *wanted);

#define MAL_STEP_NAME 160

/*
 * The name of a step, which no other running step of the caller's has: JOB.STEP; of mpirun and of
 * `malleable run` NAME.PID. Only these are asked for it, and are the caller's own. Returns 0, or -1
 * with ERR.
 */
int mal_step_name(const struct mal_controller_process *controller, char name[MAL_STEP_NAME],
		  struct mal_error *err);

/* Whether CONTROLLER's step has a name with a PID. */
bool mal_step_has_pid(const struct mal_controller_process *controller);

/*
 * Ask a controller for the status of its step. Returns it, for the caller to release, or NULL with
 * ERR if the controller is gone or its answer invalid.
 */
json_t *mal_step_status(const struct mal_controller_process *controller, struct mal_error *err);

/* The number KEY of a status or of a rank in it, 0 if missing; and the text, empty if missing. */
double mal_step_number(const json_t *object, const char *key);
const char *mal_step_text(const json_t *object, const char *key);

/* Send a request. Returns 0, or -1 with ERR if it was refused or the controller is gone. */
int mal_step_request(const struct mal_controller_process *controller, const char *request,
		     struct mal_error *err);

/*
 * Call ACT with ARGUMENT as the controller's user. In a child if that is not the caller: its output
 * goes to OUT, its standard error to ours. Returns what ACT returns (0 to 255), or -1 if no child
 * could be started or it took too long.
 */
int mal_step_as_user(const struct mal_controller_process *controller,
		     int (*act)(const struct mal_controller_process *controller, void *argument,
				FILE *out),
		     void *argument, FILE *out);

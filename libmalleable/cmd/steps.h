/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * steps.h: the balanced steps on this node, found by their controllers' processes and asked one by one.
 *
 * What a controller answers was written by its user. It is parsed as that user, never as root: where the caller is somebody else, a
 * child takes on the user's identity first.
 */
#ifndef MAL_CMD_STEPS_H
#define MAL_CMD_STEPS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "libmalleable/core/error.h"

struct mal_controller_process {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

struct mal_steps {
	size_t count;
	struct mal_controller_process *controllers; /* by process number */
	size_t others;				    /* controllers of other users, that were passed over */
};

/* Find the controllers on this node: root sees all, others their own. Returns 0, or -1 with ERR. */
int mal_steps_find(struct mal_steps *steps, struct mal_error *err);

void mal_steps_clear(struct mal_steps *steps);

/* Does a step called NAME match WANTED: JOB, JOB.STEP or a name? NULL matches all. */
bool mal_step_matches(const char *name, const char *wanted);

/* The status of the step with that controller; to be released. NULL with ERR: it is gone or says nonsense. */
json_t *mal_step_status(const struct mal_controller_process *controller, struct mal_error *err);

/* The number KEY of a status or a rank in it, 0 if it has none; and the text, empty if it has none. */
double mal_step_number(const json_t *object, const char *key);
const char *mal_step_text(const json_t *object, const char *key);

/* Send a request. Returns 0, or -1 with ERR: it was refused, or the controller is gone. */
int mal_step_request(const struct mal_controller_process *controller, const char *request, struct mal_error *err);

/*
 * Call ACT as the controller's user, with ARGUMENT; its output goes to OUT. Where that is the caller, it is a plain call. Returns what ACT
 * returns (0 to 255), or -1: the child could not be made.
 */
int mal_step_act(const struct mal_controller_process *controller,
		 int (*act)(const struct mal_controller_process *controller, void *argument, FILE *out), void *argument,
		 FILE *out);

#endif

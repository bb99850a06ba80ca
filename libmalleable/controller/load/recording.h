/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recording.h: the step's trace (--balance-trace), as it is written. */
#ifndef MAL_CONTROLLER_LOAD_RECORDING_H
#define MAL_CONTROLLER_LOAD_RECORDING_H

#include "libmalleable/controller/state/controller.h"

struct mal_recording;

/*
 * Names for the trace's first line; PATH is created with the first window. All must outlive the
 * recording. NULL: no memory.
 */
struct mal_recording *mal_recording_create(const char *path, const char *step, const char *node);

/* A window, before the policy is asked. NULL-safe. */
void mal_recording_window(struct mal_recording *recording, const struct mal_controller *controller,
			  const struct mal_window *window);

/* What was decided on it. NULL-safe. */
void mal_recording_plan(struct mal_recording *recording, const struct mal_plan *plan,
			const char *why);

/*
 * Ends the file and frees the recording. Returns 0, or -1 with ERR if something could not be
 * written, or not into the file that the user named. NULL-safe.
 */
int mal_recording_destroy(struct mal_recording *recording, struct mal_error *err);

#endif

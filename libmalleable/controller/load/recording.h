/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recording.h: the step's trace (--balance-trace), as it is written.
 *
 * Invariant: Each window is there, and behind it the plan that was made on it
 * (t/unit/test_report.c: trace_has_each_window).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/* Before the first window. -1 without memory. */
int mal_recording_open(struct mal_controller *controller);

/* A window, before the policy is asked; the file is created with the first one. */
void mal_recording_window(struct mal_controller *controller, const struct mal_window *window);

/* A window was thrown away: what ranks did in it is in no other. */
void mal_recording_skip(struct mal_controller *controller);

/* What was decided on it. */
void mal_recording_plan(struct mal_controller *controller, const struct mal_plan *plan,
			const char *why);

/*
 * Ends the file. Returns 0, or -1 with ERR if something could not be written, or not into the file
 * that the user named.
 */
int mal_recording_end(struct mal_controller *controller, struct mal_error *err);

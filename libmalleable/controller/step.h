/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * step.h: a step's controller from its start to its end.
 *
 * Invariant: A step that has no memory to start ends with an error, and sends no report
 * (t/unit/test_malleabled.c: no_memory_is_left).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/* Find out what ARGUMENTS say of a step, and open its segment. Returns 0, or -1 with ERR. */
int mal_step_open(struct mal_step_facts *step, const struct mal_arguments *arguments,
		  struct mal_error *err);

/*
 * Make all parts of CONTROLLER, which is all 0, for STEP, which must outlive it. IDLE are CPUs of
 * its allocation that are the job's and not the step's. No thread starts and nothing is watched
 * yet. Returns 0, or -1 with ERR; close the controller in both cases.
 */
int mal_controller_open(struct mal_controller *controller, const struct mal_step_facts *step,
			const struct mal_cpumask *idle, struct mal_error *err);

/*
 * The same for a step that was opened, with all that its arguments ask for: the trace, the thread
 * that watches, the sockets.
 */
int mal_controller_start(struct mal_controller *controller, const struct mal_step_facts *step,
			 struct mal_error *err);

/*
 * A round of samples has arrived: learn from it, decide, and ask for the next. WINDOW is room for
 * it.
 */
void mal_controller_take_round(struct mal_controller *controller, struct mal_window *window);

/* The controller's loop, until the step ends. One step in a process at a time. */
void mal_controller_serve(struct mal_controller *controller);

/* Safe on a controller that was opened halfway, or is all 0. */
void mal_controller_close(struct mal_controller *controller);

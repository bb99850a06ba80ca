/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parts.h: makes the parts of a controller, and ends them. */
#ifndef MAL_CONTROLLER_PARTS_H
#define MAL_CONTROLLER_PARTS_H

#include "libmalleable/controller/state/controller.h"

/*
 * Make all parts for STEP, which must outlive the controller. IDLE are CPUs of its allocation that
 * are the job's and not the step's. No thread starts and nothing is watched yet. Returns 0, or -1
 * with ERR; close the controller in both cases.
 */
int mal_controller_open(struct mal_controller *controller, const struct mal_step_facts *step,
			const struct mal_cpumask *idle, struct mal_error *err);

/* Safe on a controller that was opened halfway, or is all 0. */
void mal_controller_close(struct mal_controller *controller);

#endif

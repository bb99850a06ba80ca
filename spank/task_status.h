/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* task_status.h: how the tasks of a balanced step and its controller ended. */
#ifndef MAL_SPANK_TASK_STATUS_H
#define MAL_SPANK_TASK_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include "libmalleable/core/launch.h"

struct balance_ending {
	bool killed;	/* a task was: whoever kills a step kills its controller too */
	bool succeeded; /* a task did */
};

/* A task ended with STATUS, as of wait(2). */
void balance_ending_add_task(struct balance_ending *ending, int status);

/*
 * End CONTROLLER of STEP within TIMEOUT_MS. TEXT, of SIZE bytes, all 0 before, gets its report. A
 * line in the log tells what became of it if it has none.
 */
void balance_ending_read(const struct balance_ending *ending, const char *step,
			 struct mal_launched *controller, int timeout_ms, char *text, size_t size);

#endif

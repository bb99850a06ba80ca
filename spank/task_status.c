/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * task_status.c: how the tasks of a balanced step and its controller ended.
 *
 * Invariant: a controller killed together with its step is not reported (t/t4001-faults.t).
 */
#include "spank/task_status.h"

#include <signal.h>
#include <sys/wait.h>

#include "libmalleable/core/outcome.h"
#include "spank/plugin.h"

void balance_ending_add_task(struct balance_ending *ending, int status)
{
	ending->killed |= WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	ending->succeeded |= status == 0;
}

void balance_ending_read(const struct balance_ending *ending, const char *step,
			 struct mal_launched *controller, int timeout_ms, char *text, size_t size)
{
	if (!mal_launched_end(controller, timeout_ms, text, size))
		balance_error("the controller of step %s did not end in time and was killed", step);
	else if (mal_outcome_is_missing(text) && !ending->killed)
		balance_error("the controller of step %s ended early: killed, perhaps by "
			      "a memory limit; the step went on without it",
			      step);
}

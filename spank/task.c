/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * task.c: the environment of a balanced step's task, in its process before it is executed.
 *
 * Invariant: without the libraries in the task's root nothing is set (t/t4611-unseen.t).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/cpumask.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/inside.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/core/starts.h"
#include "libmalleable/core/unloadable.h"
#include "spank/launchers.h"
#include "spank/plugin.h"

static int get_variable(void *context, const char *name, char *value, size_t size)
{
	int found = (int)spank_getenv(context, name, value, (int)size);

	if (found == (int)ESPANK_ENV_NOEXIST)
		return 0;
	return found == (int)ESPANK_SUCCESS ? 1 : -1;
}

static int set_variable(void *context, const char *name, const char *value)
{
	return spank_setenv(context, name, value, 1) == ESPANK_SUCCESS ? 0 : -1;
}

static void unset_variable(void *context, const char *name)
{
	spank_unsetenv(context, name);
}

void balance_task_forget(spank_t spank)
{
	const struct mal_setup_env env = {get_variable, set_variable, unset_variable, spank};

	mal_setup_remove(&env);
	balance_launchers_unset(&env);
}

void balance_task_prepare_script(spank_t spank)
{
	const struct mal_setup_env env = {get_variable, set_variable, unset_variable, spank};

	if (!balance_launchers_set(&env))
		return;
	env.set(spank, MAL_ENV_JOB, balance_user_options.spec);
	if (balance_args_policies())
		env.set(spank, MAL_ENV_JOB_POLICIES, balance_args_policies());
	if (balance_user_options.asked)
		return;
	env.set(spank, MAL_ENV_JOB_REPORT, mal_report_wish_word(balance_options_report()));
	if (*balance_args_by_program())
		env.set(spank, MAL_ENV_JOB_PROGRAMS, balance_args_by_program());
}

/* WANTED threads, bounded by the administrator's limit on the task's own CPUs. */
static unsigned int limit_threads(unsigned int wanted)
{
	struct mal_cpumask own;
	unsigned int max;

	if (!wanted || !balance_config.max_overcommit || mal_cpumask_get_affinity(0, &own) < 0)
		return wanted;
	max = mal_cpumask_count(&own) * balance_config.max_overcommit;
	return wanted < max ? wanted : max;
}

/*
 * Whether the task can load our library: the job's own /tmp or a container may hide it, and ld.so
 * would print an error in each process. One line suffices for all tasks of a node.
 */
static bool has_library(const struct mal_setup *setup)
{
	const char *why = NULL;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/libmalleable.so", setup->libdir);
	if (access(path, R_OK) < 0)
		why = strerror(errno);
	else if (!mal_unloadable_libc_fits())
		why = "the C library there is too old, or not glibc";
	if (why && setup->local_rank == 0)
		balance_error("cannot load %s in the job: %s; the step runs unbalanced", path, why);
	return !why;
}

void balance_task_prepare(spank_t spank, struct mal_setup *setup, bool daemon)
{
	const struct mal_setup_env env = {get_variable, set_variable, unset_variable, spank};
	char cgroup[PATH_MAX];
	struct mal_error err;
	bool first;

	setup->cgroup = mal_inside_cgroup(cgroup, sizeof(cgroup));
	setup->keys.max_threads = limit_threads(setup->keys.max_threads);
	if (spank_get_item(spank, S_TASK_ID, &setup->local_rank) != ESPANK_SUCCESS)
		return;
	if (!has_library(setup)) {
		mal_segment_note_unbalanced(setup->segment_fd);
		return;
	}
	first = setup->local_rank == 0;
	/* What a daemon forks finds its number by itself. */
	if (daemon)
		setup->local_rank = -1;
	mal_starts_begin(setup->segment_fd);
	if (mal_setup_apply(setup, &env, &err) < 0) {
		mal_segment_note_unbalanced(setup->segment_fd);
		/* srun gave all tasks the same environment. */
		if (first)
			balance_error_of_step("%s; the step runs unbalanced", err.text);
	}
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * balance.c: the SPANK plugin's callbacks (spank(7)), which call the files that do the work.
 *
 * Remote callbacks always return 0: a failure here must never keep a step from running.
 *
 * Invariant: every callback leaves with the effective id that it had (t/unit/test_step.c:
 * no_way_back).
 */
#include "libmalleable/core/script.h"
#include "spank/contained.h"
#include "spank/deadline.h"
#include "spank/job_cpus.h"
#include "spank/launchers.h"
#include "spank/off_link.h"
#include "spank/plugin.h"
#include "spank/socket.h"

/* How long slurmd may take at its start to clean up after steps that are gone. */
#define CLEAN_UP_MS 1000

/* Slurm gives all callbacks the same parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

SPANK_PLUGIN(balance, 1)

/* In slurmd, at its start. */
static void balance_node_begin(void)
{
	/* 0 is no job's number: clean up after all jobs whose steps died with their slurmstepd. */
	balance_deadline_set(CLEAN_UP_MS);
	balance_job_cpus_clean_up(0);
	balance_sockets_clean_up();
	balance_launchers_clean_up();
	balance_switch_link();
}

int slurm_spank_init(spank_t spank, int count, char **arguments)
{
	spank_context_t context = spank_context();
	int result;

	balance_args_parse(count, arguments);
	if (context == S_CTX_SLURMD)
		balance_node_begin();
	if (context == S_CTX_ALLOCATOR)
		balance_options_forget_job();
	result = balance_options_register(spank);
	/* In slurmstepd a failure of a required plugin drains the node (22.05 to 26.05). */
	return context == S_CTX_REMOTE || context == S_CTX_SLURMD ? 0 : result;
}

int slurm_spank_init_post_opt(spank_t spank, int count, char **arguments)
{
	if (spank_context() == S_CTX_LOCAL) {
		mal_script_tell();
		balance_options_check_environment();
	} else if (spank_context() == S_CTX_REMOTE)
		balance_contained_prepare();
	return 0;
}

int slurm_spank_user_init(spank_t spank, int count, char **arguments)
{
	balance_contained_begin();
	balance_step_begin(spank);
	return 0;
}

/*
 * The first callback in a task: it closes descriptors, so that the user cannot stop a task that
 * still holds those of others.
 */
int slurm_spank_task_init_privileged(spank_t spank, int count, char **arguments)
{
	balance_step_task_begin();
	return 0;
}

int slurm_spank_task_init(spank_t spank, int count, char **arguments)
{
	balance_step_prepare_task(spank);
	return 0;
}

int slurm_spank_task_post_fork(spank_t spank, int count, char **arguments)
{
	balance_step_task_made(spank);
	return 0;
}

int slurm_spank_task_exit(spank_t spank, int count, char **arguments)
{
	balance_step_task_ended(spank);
	return 0;
}

int slurm_spank_exit(spank_t spank, int count, char **arguments)
{
	if (spank_context() == S_CTX_REMOTE)
		balance_step_left();
	return 0;
}

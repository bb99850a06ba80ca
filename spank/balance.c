/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * balance.c: the SPANK plugin's callbacks (spank(7)); each hands on to the file that does the work.
 *
 * Remote callbacks always return 0: what fails here must never keep a step from running.
 */
#include "spank/plugin.h"

SPANK_PLUGIN(balance, 1)

int slurm_spank_init(spank_t spank, int count, char **arguments)
{
	balance_args_parse(count, arguments);
	return balance_options_register(spank);
}

int slurm_spank_init_post_opt(spank_t spank, int count, char **arguments)
{
	(void)spank;
	(void)count;
	(void)arguments;
	if (spank_context() == S_CTX_LOCAL)
		return balance_options_check_environment();
	return 0;
}

int slurm_spank_user_init(spank_t spank, int count, char **arguments)
{
	(void)count;
	(void)arguments;
	balance_step_begin(spank);
	return 0;
}

int slurm_spank_task_init(spank_t spank, int count, char **arguments)
{
	(void)count;
	(void)arguments;
	balance_step_prepare_task(spank);
	return 0;
}

int slurm_spank_task_post_fork(spank_t spank, int count, char **arguments)
{
	(void)count;
	(void)arguments;
	balance_step_task_made(spank);
	return 0;
}

int slurm_spank_task_exit(spank_t spank, int count, char **arguments)
{
	(void)count;
	(void)arguments;
	balance_step_task_ended(spank);
	return 0;
}

int slurm_spank_exit(spank_t spank, int count, char **arguments)
{
	(void)spank;
	(void)count;
	(void)arguments;
	if (spank_context() == S_CTX_REMOTE)
		balance_step_left();
	return 0;
}

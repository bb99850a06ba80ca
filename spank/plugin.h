/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plugin.h: what the files of the SPANK plugin share; <slurm/spank.h> is used in spank/ only. */
#ifndef MAL_SPANK_PLUGIN_H
#define MAL_SPANK_PLUGIN_H

#include <slurm/spank.h>
#include <stdbool.h>

/* args.c: the arguments in plugstack.conf. */
struct balance_config {
	char fallback[256];   /* default=: --balance for steps that ask for nothing; empty: off */
	char policies[256];   /* policies=: allowed names, separated by commas; empty: all */
	char report_dir[512]; /* report_dir=: JSON reports of all steps go there; empty: none */
	char libdir[512];     /* libdir=: where the controller and the libraries are */
	bool log;	      /* log=yes: one line per balanced step in slurmd's log */
};

extern struct balance_config balance_config;

/* Parse them. Each wrong one is reported, once and by name, and skipped: the plugin never keeps a job from starting. */
void balance_args_parse(int count, char **arguments);

/* The allowed policies as mal_choose wants them: NULL if all are. */
const char *balance_args_policies(void);

/* options.c: --balance, --balance-report and --balance-trace; what the user wants. */
struct balance_wish {
	bool given;	  /* --balance was given as an option */
	char spec[512];	  /* its value */
	char report[768]; /* --balance-report's */
	char trace[768];  /* --balance-trace's */
};

extern struct balance_wish balance_wish;

/* Register them with srun, sbatch, salloc (LOCAL) and slurmstepd. */
int balance_options_register(spank_t spank);

/* In srun: check SLURM_BALANCE where no option was given. Returns 0 or -1; the reason was said. */
int balance_options_check_environment(void);

/* In slurmstepd: fill balance_wish from the step's environment and plugstack.conf where no option was given. */
void balance_options_complete(spank_t spank);

/* Step ids from here on are not users' steps: batch script, extern, interactive (slurm.h, SLURM_MAX_NORMAL_STEP_ID). */
#define BALANCE_FIRST_SPECIAL_STEP 0xfffffff0u

/* step.c: the life of a step in slurmstepd. All of them report what fails and let the step go on. */
void balance_step_begin(spank_t spank);
void balance_step_prepare_task(spank_t spank);
void balance_step_task_made(spank_t spank);
void balance_step_task_ended(spank_t spank);
void balance_step_end(void);
void balance_step_left(void);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plugin.h: what the files of the SPANK plugin share; <slurm/spank.h> is used in spank/ only. */
#ifndef MAL_SPANK_PLUGIN_H
#define MAL_SPANK_PLUGIN_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where a line goes. */
enum balance_log { BALANCE_LOG_SYSLOG, BALANCE_LOG_SLURMD, BALANCE_LOG_NONE };

/* args.c: the arguments in plugstack.conf. */
struct balance_config {
	char fallback[256];	     /* default=: --balance for steps that ask for nothing; empty: off */
	char policies[256];	     /* policies=: allowed names, separated by commas; empty: all */
	char report_dir[512];	     /* report_dir=: JSON reports of all steps go there; empty: none */
	char libdir[512];	     /* libdir=: where the controller and the libraries are */
	char off_file[512];	     /* off_file=: nothing is balanced while this file is there (malleable admin) */
	enum balance_log log;	     /* log=: where one line for each balanced step goes */
	bool coschedule;	     /* coschedule=yes: jobs that share CPUs get parts of them */
	bool agent;		     /* it is yes somewhere: slurmd starts the agent */
	char agent_user[64];	     /* agent_user=: whose it is */
	unsigned int share;	     /* share=: weight of a job beside others */
	bool comment;		     /* comment=yes: and into the job's AdminComment */
	unsigned int min_cpus;	     /* min_cpus=: every rank keeps so many, where there are enough */
	unsigned int max_overcommit; /* max_overcommit=: threads for each CPU that users may ask for; 0: any number */
};

extern struct balance_config balance_config;

/* Parse them. Each wrong one is reported, once and by name, and skipped: the plugin never keeps a job from starting. */
void balance_args_parse(int count, char **arguments);

/* The job runs in PARTITION: from now on what is set for it (default@PARTITION=...) is in balance_config. */
void balance_args_use_partition(const char *partition);

/* The allowed policies as mal_choose wants them: NULL if all are. */
const char *balance_args_policies(void);

/* options.c: --balance, --balance-report, --balance-trace and --balance-hostfile; what the user wants. */
struct balance_wish {
	bool given;	    /* --balance was given as an option */
	bool asked;	    /* so, or in the environment: not by default= alone */
	char spec[512];	    /* its value */
	char report[768];   /* --balance-report's */
	char trace[768];    /* --balance-trace's */
	char hostfile[768]; /* --balance-hostfile's */
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

/* outcome.c: what user and administrator are told of a balanced step at its end. */
struct balance_outcome {
	uint32_t job;
	uid_t user;
	bool first_node; /* of the step: its line goes into the job's comment */
	bool silent;	 /* the user is told nothing */
};

/* TEXT is what the controller said: a line for logs, then the lines for the user. It is changed. */
void balance_outcome_say(const struct balance_outcome *outcome, char *text);

/* The step has left its cgroups: nothing waits for it here any more. What is to be in the job's comment is put there. */
void balance_outcome_finish(void);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plugin.h: shared by the files of the SPANK plugin.
 *
 * Invariant: no other file includes <slurm/spank.h> (t/t0002-walls.t).
 */
#pragma once

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libmalleable/core/report_wish.h"
#include "libmalleable/core/settings.h"
#include "libmalleable/core/setup.h"

/* args.c: the arguments in plugstack.conf. */
extern struct mal_site balance_config;

/*
 * Parse the arguments. Wrong ones are skipped: the plugin never keeps a job from starting. slurmd
 * reports them at its start, by name.
 */
void balance_args_parse(int count, char **arguments);

/* Whether any setting is for a partition. */
bool balance_args_have_partitions(void);

/* Whether any of these keeps users from something: policies@ and max_overcommit@. */
bool balance_args_limit_partitions(void);

/*
 * The job runs in PARTITION: apply the settings for it (default@PARTITION=...) to balance_config.
 */
void balance_args_use_partition(const char *partition);

/*
 * In slurmstepd, behind that: set the default for the step's user, account, QOS and program. The
 * job's environment names the former: a user may forge them, and choose a policy anyway.
 */
void balance_args_use_step(spank_t spank);

/* For a script's launchers: what depends on the programs that they start; empty: nothing. */
const char *balance_args_by_program(void);

/* The allowed policies as mal_choose() takes them: NULL if all are. */
const char *balance_args_policies(void);

/*
 * options.c: what the user asked for with --balance, --balance-report and --balance-trace.
 */
extern struct mal_user_options balance_user_options;

/*
 * Register the options with srun, sbatch, salloc and slurmstepd. Returns 0 or -1, after reporting
 * the reason.
 */
int balance_options_register(spank_t spank);

/* In srun: check SLURM_BALANCE if no option was given. Ends srun if it is wrong. */
void balance_options_check_environment(void);

/*
 * In sbatch and salloc, before options: a job's script or a task of it may have called them. What
 * its options and launchers have set there is not for the next job.
 */
void balance_options_forget_job(void);

/* In slurmstepd: complete balance_user_options from the step's environment. */
void balance_options_complete(spank_t spank);

/*
 * In slurmstepd: an option was given that needs --balance, and that was not: its name. NULL: none.
 */
const char *balance_options_without_effect(void);

/* In slurmstepd: what plugstack.conf has for a step that asked for nothing. */
void balance_options_fall_back(void);

/* What the user is told at the end: as the user, or else the site wants it. */
enum mal_report_wish balance_options_report(void);

/*
 * messages.c: write "balance: ..." to Slurm's log, without control characters. No other file writes
 * there. Users get errors too: in a step over several nodes with the node's name, as an error may
 * be of one node alone.
 */
enum balance_line { BALANCE_ERROR, BALANCE_ERROR_OF_STEP, BALANCE_INFO };
void balance_put(enum balance_line line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
#define balance_error(...) balance_put(BALANCE_ERROR, __VA_ARGS__)
#define balance_info(...) balance_put(BALANCE_INFO, __VA_ARGS__)
/* LINE of a step's figures, all of it root's own words: no other line begins as it does. */
void balance_log_step(const char *line);

/*
 * An error that all nodes of the step have, by its options or the site's configuration: users get
 * it from the first node alone.
 */
#define balance_error_of_step(...) balance_put(BALANCE_ERROR_OF_STEP, __VA_ARGS__)

/*
 * In slurmstepd, where the step asked for nothing: errors go to slurmd's log alone from here on.
 */
void balance_errors_to_log(bool alone);

/* In slurmstepd: this is node NUMBER of the COUNT of a step. */
void balance_errors_from_node(uint32_t number, uint32_t count);

/*
 * In slurmstepd: print a line for the user. Returns false if the program's standard error does not
 * accept it in time.
 */
bool balance_tell_user(const char *text);

/*
 * Step ids from here on are not users' steps but batch script, extern, interactive (slurm.h,
 * SLURM_MAX_NORMAL_STEP_ID).
 */
#define BALANCE_FIRST_SPECIAL_STEP 0xfffffff0u
#define BALANCE_INTERACTIVE_STEP 0xfffffffau
#define BALANCE_BATCH_STEP 0xfffffffbu

/* Numbers of tasks from here on are none (slurm.h, INFINITE and NO_VAL). */
#define BALANCE_NO_TASK 0xfffffffdu

/*
 * balanced_step.c: the life of a step in slurmstepd. All functions report failures and let the step
 * go on.
 */
void balance_step_begin(spank_t spank);
void balance_step_task_begin(void);
void balance_step_prepare_task(spank_t spank);
void balance_step_task_made(spank_t spank);
void balance_step_task_ended(spank_t spank);
void balance_step_end(void);
void balance_step_left(void);

/*
 * task.c: prepare the environment of a task of a balanced step, in the task's process, as SETUP
 * says; the task's number is found here, but for a launcher's DAEMON, and max_threads bounded as
 * the administrator wants. A failure is reported; the task runs unbalanced.
 */
void balance_task_prepare(spank_t spank, struct mal_setup *setup, bool daemon);

/*
 * task.c: the task is of a step that is not balanced, and may have been submitted from inside one
 * that is: nothing of that one is in its environment.
 */
void balance_task_forget(spank_t spank);

/* task.c: the task is a balanced job's batch script: ranks of its launchers are to be balanced. */
void balance_task_prepare_script(spank_t spank);

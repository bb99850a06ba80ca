/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * step.c: the life of a balanced step in slurmstepd.
 *
 * user_init runs with the user's effective id inside the step's cgroups: what is forked there is accounted to the step
 * and ends with it. The segment is made and never read here: what ranks write into it is no business of root.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/core/admin.h"
#include "libmalleable/core/helper.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/core/setup.h"
#include "libmalleable/loadable/loadable.h"
#include "policies/choice.h"
#include "policies/registry.h"
#include "spank/agent.h"
#include "spank/cgroup.h"
#include "spank/plugin.h"
#include "spank/pool.h"

/* How long the controller may take to report and leave, before it is killed. */
#define END_TIMEOUT_MS 1000

static struct {
	bool numbered; /* a user's step, balanced or not */
	uint32_t job, id;
	bool active;
	struct mal_helper helper;
	int segment_fd;
	struct mal_choice choice;
	struct mal_cpumask cpus;   /* that Slurm gave it */
	struct mal_cpumask all;	   /* that its ranks may ever use: with grow=job the job's */
	struct balance_pool *pool; /* with grow=job */
	unsigned int tasks;	   /* that have not ended */
	pid_t *made;		   /* their processes, where the pool needs them */
	unsigned int made_count, made_most;
	uint32_t nodes; /* of the whole step */
	uint32_t node;	/* this one's number in it */
	uid_t user;
	char name[64];
} step;

/* Is this a step of a user, and which? */
static bool find_number(spank_t spank)
{
	step.numbered = spank_get_item(spank, S_JOB_ID, &step.job) == ESPANK_SUCCESS &&
			spank_get_item(spank, S_JOB_STEPID, &step.id) == ESPANK_SUCCESS &&
			step.id < BALANCE_FIRST_SPECIAL_STEP;
	return step.numbered;
}

/* Under cgroup v2 slurmstepd itself may use more than its step. */
static int find_cpus(struct mal_error *err)
{
	struct balance_cgroup cgroup;

	if (balance_cgroup_find(&cgroup, NULL) == 0 && cgroup.v2 &&
	    balance_cgroup_read(&cgroup, step.id, &step.cpus, NULL) == 0)
		return 0;
	return mal_cpumask_get_affinity(0, &step.cpus) < 0 ? mal_fail_errno(err, "cannot read the step's CPUs") : 0;
}

/* Who asked for balancing is told that there is none. */
static bool is_off(void)
{
	if (!mal_admin_is_off(balance_config.off_file))
		return false;
	if (balance_wish.asked && step.node == 0)
		slurm_spank_log("balance: switched off by the administrator: the step runs unbalanced");
	return true;
}

/* Is this a step that wants balancing? Then STEP.CHOICE says how. */
static bool is_wanted(spank_t spank)
{
	struct mal_error err;
	char partition[64];
	uint32_t tasks;

	if (spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &tasks) != ESPANK_SUCCESS || !tasks)
		return false;
	if (spank_getenv(spank, "SLURM_JOB_PARTITION", partition, sizeof(partition)) == ESPANK_SUCCESS)
		balance_args_use_partition(partition);
	balance_options_complete(spank);
	mal_loadable_trust(balance_wish.spec, balance_config.libdir);
	if (mal_choose(balance_wish.spec, balance_args_policies(), MAL_POLICY_DEFAULT, &step.choice, &err) < 0) {
		slurm_error("balance: %s; the step runs unbalanced", err.text);
		return false;
	}
	step.tasks = tasks;
	if (spank_get_item(spank, S_JOB_NNODES, &step.nodes) != ESPANK_SUCCESS)
		step.nodes = 1;
	if (spank_get_item(spank, S_JOB_NODEID, &step.node) != ESPANK_SUCCESS)
		step.node = 0;
	if (spank_get_item(spank, S_JOB_UID, &step.user) != ESPANK_SUCCESS)
		step.user = geteuid();
	snprintf(step.name, sizeof(step.name), "%u.%u", step.job, step.id);
	return step.choice.policy->decide && !is_off();
}

/* The user's file FILE; the nodes of a step may share its directory, so that each has a file of its own. */
static const char *file_of_node(const char *file, const char *node, char *path, size_t size)
{
	if (step.nodes < 2)
		return file;
	snprintf(path, size, "%s.%s", file, node);
	return path;
}

/* Where the JSON goes: the user's file, or one in the site's directory. NULL: nowhere. */
static const char *report_path(const char *node, char *path, size_t size)
{
	if (balance_wish.report[0] && strcmp(balance_wish.report, "off") != 0)
		return file_of_node(balance_wish.report, node, path, size);
	if (!balance_config.report_dir[0])
		return NULL;
	snprintf(path, size, "%s/%s.%s.json", balance_config.report_dir, step.name, node);
	return path;
}

/* With grow=job: what others leave idle, in IDLE. Where that cannot be the step has its own CPUs alone. */
static void join_pool(struct mal_cpumask *idle)
{
	struct mal_error err;

	step.pool = balance_pool_join(step.job, step.id, &step.cpus, step.choice.pool_job, &step.all, idle, &err);
	step.made = step.pool ? calloc(step.tasks, sizeof(*step.made)) : NULL;
	step.made_most = step.made ? step.tasks : 0;
	if (!step.pool)
		slurm_error("balance: grow=job: %s; the step keeps to its own CPUs", err.text);
}

static void settle_in_pool(pid_t controller)
{
	if (!step.pool)
		return;
	balance_pool_settle(step.pool, controller, geteuid());
	if (controller <= 0)
		step.pool = NULL;
}

/* With coschedule=yes: the agent is told of the step; -1: it is not divided. */
static int join_agent(void)
{
	struct mal_agent_step message = {
		.version = MAL_AGENT_VERSION,
		.job = step.job,
		.step = step.id,
		.weight = balance_config.share,
		.least = step.tasks,
		.cpus = step.cpus,
	};

	return balance_config.coschedule && mal_policy_acts(step.choice.policy) ? balance_agent_join(&message) : -1;
}

static int start(struct mal_error *err)
{
	char list[1024], idle_list[1024], path[640], node[256] = "?", file[1280], trace[1280];
	struct mal_cpumask idle = {{0}};
	struct mal_helper_options options = {
		.path = path,
		.policy = balance_wish.spec,
		.cpus = list,
		.step = step.name,
		.libdir = balance_config.libdir,
		.node = node,
		.allowed = balance_args_policies(),
		.off_file = balance_config.off_file,
		.min_cpus = balance_config.min_cpus,
		.nodes = step.nodes > 1 ? step.nodes : 0,
		.hostfile = balance_wish.hostfile[0] ? balance_wish.hostfile : NULL,
	};
	int result;

	gethostname(node, sizeof(node) - 1);
	snprintf(path, sizeof(path), "%s/malleabled", balance_config.libdir);
	if (access(path, X_OK) < 0)
		return mal_fail_errno(err, "%s", path);
	options.report_file = report_path(node, file, sizeof(file));
	if (balance_wish.trace[0])
		options.trace_file = file_of_node(balance_wish.trace, node, trace, sizeof(trace));
	step.all = step.cpus;
	if (step.choice.grow_job)
		join_pool(&idle);
	mal_cpumask_format(&step.all, list, sizeof(list));
	if (mal_cpumask_count(&idle))
		options.idle = mal_cpumask_format(&idle, idle_list, sizeof(idle_list));
	step.segment_fd = mal_segment_create_for_ranks(step.tasks, &step.all, err);
	if (step.segment_fd < 0) {
		settle_in_pool(0);
		return -1;
	}
	options.segment_fd = step.segment_fd;
	options.agent_fd = join_agent();
	result = mal_helper_start(&step.helper, &options, err);
	settle_in_pool(result == 0 ? step.helper.pid : 0);
	/* The agent takes the end of this connection for the end of the step: it is the controller's alone. */
	if (options.agent_fd >= 0)
		close(options.agent_fd);
	if (result < 0)
		close(step.segment_fd);
	return result;
}

void balance_step_begin(spank_t spank)
{
	struct mal_error err;

	if (!find_number(spank))
		return;
	balance_pool_claim(step.job, step.id);
	if (!is_wanted(spank))
		return;
	if (find_cpus(&err) < 0 || start(&err) < 0) {
		slurm_error("balance: %s; the step runs unbalanced", err.text);
		return;
	}
	step.active = true;
}

void balance_step_task_made(spank_t spank)
{
	struct mal_error err;
	pid_t pid;

	if (!step.pool || step.made_count == step.made_most)
		return;
	if (spank_get_item(spank, S_TASK_PID, &pid) == ESPANK_SUCCESS)
		step.made[step.made_count++] = pid;
	/* All of them are held until the last callback returns. */
	if (step.made_count == step.made_most && balance_pool_widen(step.pool, step.made, step.made_count, &err) < 0)
		slurm_error("balance: grow=job: %s; the step keeps to its own CPUs", err.text);
}

static bool get_variable(void *context, const char *name, char *value, size_t size)
{
	return spank_getenv(context, name, value, (int)size) == ESPANK_SUCCESS;
}

static int set_variable(void *context, const char *name, const char *value)
{
	return spank_setenv(context, name, value, 1) == ESPANK_SUCCESS ? 0 : -1;
}

/* What the user wants, as far as the administrator allows it on the task's own CPUs. */
static unsigned int limit_threads(void)
{
	unsigned int wanted = step.choice.max_threads, most;
	struct mal_cpumask own;

	if (!wanted || !balance_config.max_overcommit || mal_cpumask_get_affinity(0, &own) < 0)
		return wanted;
	most = mal_cpumask_count(&own) * balance_config.max_overcommit;
	return wanted < most ? wanted : most;
}

void balance_step_prepare_task(spank_t spank)
{
	struct mal_setup setup = {
		.libdir = balance_config.libdir,
		.cpus = &step.all,
		.home = step.pool ? &step.cpus : NULL,
		.controller = step.helper.pid,
		.segment_fd = step.segment_fd,
		.max_threads = limit_threads(),
		.nodes = step.nodes,
		.events = step.choice.events,
		.keep_gomp = step.choice.keep_gomp,
		.mode = mal_choice_mode(&step.choice),
	};
	struct mal_setup_env env = {get_variable, set_variable, spank};
	struct mal_error err;

	if (!step.active)
		return;
	mal_helper_forget(&step.helper);
	if (spank_get_item(spank, S_TASK_ID, &setup.local_rank) != ESPANK_SUCCESS)
		return;
	if (mal_setup_apply(&setup, &env, &err) < 0)
		slurm_error("balance: %s; the task runs unbalanced", err.text);
}

void balance_step_end(void)
{
	char text[4096];

	if (!step.active)
		return;
	step.active = false;
	balance_pool_leave(step.pool);
	step.pool = NULL;
	free(step.made);
	close(step.segment_fd);
	if (!mal_helper_end(&step.helper, END_TIMEOUT_MS, text, sizeof(text)))
		slurm_error("balance: the controller of step %s did not leave and was killed", step.name);
	balance_outcome_say(&(struct balance_outcome){.job = step.job,
						      .user = step.user,
						      .first_node = step.node == 0,
						      .silent = strcmp(balance_wish.report, "off") == 0},
			    text);
}

void balance_step_task_ended(spank_t spank)
{
	(void)spank;
	if (step.active && --step.tasks == 0)
		balance_step_end();
}

void balance_step_left(void)
{
	balance_step_end();
	if (step.numbered)
		balance_pool_give(step.job, step.id);
	balance_outcome_finish();
}

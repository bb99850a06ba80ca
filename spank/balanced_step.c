/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * balanced_step.c: the life of a balanced step in slurmstepd.
 *
 * user_init runs with the user's effective id; this file acts as root until it returns. The segment
 * is created here and never read: root does not trust what ranks write into it. All waits have a
 * deadline: a step whose controller does not start or end in time goes on without it.
 *
 * Invariant: the tasks start and end on time, whatever the controller does (t/unit/test_step.c:
 * late_end_has_one_line; t/t4001-faults.t). A step whose user's id cannot be restored is not
 * balanced (no_way_back).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/core/launch.h"
#include "libmalleable/core/off_file.h"
#include "libmalleable/core/outcome.h"
#include "libmalleable/core/report_wish.h"
#include "libmalleable/core/script.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/loadable/loadable.h"
#include "policies/interface/choice.h"
#include "policies/interface/registry.h"
#include "spank/cgroup.h"
#include "spank/deadline.h"
#include "spank/descriptors.h"
#include "spank/job_cpus.h"
#include "spank/launchers.h"
#include "spank/off_link.h"
#include "spank/plugin.h"
#include "spank/site_reports.h"
#include "spank/slurmctld_client.h"
#include "spank/socket.h"
#include "spank/step_log.h"
#include "spank/tracker.h"

static struct {
	bool numbered; /* a user's step, balanced or not */
	uint32_t job, id;
	bool active;
	bool daemon;	   /* of a launcher, which forks the ranks */
	bool script;	   /* a batch script, in which launchers are balanced */
	bool limits_known; /* those of its partition */
	struct balance_socket socket;
	struct balance_descriptors fds;
	struct mal_choice choice;
	struct mal_cpumask cpus; /* CPUs from Slurm */
	struct mal_cpumask all;	 /* CPUs that its ranks may ever use: with grow=job, the job's */
	struct balance_job_cpus *pool; /* with grow=job */
	/* the step's tasks on this node, and those of them that still run */
	unsigned int ranks, tasks;
	bool killed;	/* a task was: whoever kills a step kills its controller too */
	bool succeeded; /* a task did */
	pid_t task_pids[MAL_MAX_RANKS]; /* their processes, with a pool */
	unsigned int task_pid_count;
	uint32_t nodes;	 /* of the whole step */
	uint32_t joined; /* nodes that may be in one report: these, or a launcher's */
	uint32_t node;	 /* this node's number in the step */
	uid_t user;
	gid_t group;
	char name[64];
	char job_name[256];		    /* what the user's environment says */
	char array_job[16], array_task[16]; /* empty: none */
} step = {.socket = {"", -1}, .fds.all = {-1, -1, -1, -1, -1, -1, -1}};

/* Limit of all waits together at a step's start, and again at its end. */
static int get_wait_ms(void)
{
	return 1000 * (int)balance_config.wait_s;
}

/* Whether this is a user's step; sets its number, also that of a batch script. */
static bool find_number(spank_t spank)
{
	step.numbered = spank_get_item(spank, S_JOB_ID, &step.job) == ESPANK_SUCCESS &&
			spank_get_item(spank, S_JOB_STEPID, &step.id) == ESPANK_SUCCESS &&
			step.id < BALANCE_FIRST_SPECIAL_STEP;
	return step.numbered;
}

/* Find this node among those of the step, and its tasks. */
static void find_place(spank_t spank)
{
	if (spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &step.tasks) != ESPANK_SUCCESS)
		step.tasks = 0;
	if (spank_get_item(spank, S_JOB_NNODES, &step.nodes) != ESPANK_SUCCESS)
		step.nodes = 1;
	step.joined = step.nodes;
	step.daemon = step.tasks == 1 && balance_launchers_find_daemon(spank, &step.joined);
	if (spank_get_item(spank, S_JOB_NODEID, &step.node) != ESPANK_SUCCESS)
		step.node = 0;
	balance_errors_from_node(step.node, step.joined);
}

/* Under cgroup v2 slurmstepd itself may have more CPUs than its step. */
static int find_cpus(struct mal_error *err)
{
	struct balance_cgroup cgroup;

	if (balance_cgroup_find(&cgroup, NULL) == 0 && cgroup.v2 &&
	    balance_cgroup_read(&cgroup, step.id, &step.cpus, NULL) == 0)
		return 0;
	return mal_cpumask_get_affinity(0, &step.cpus) < 0
		       ? mal_fail_errno(err, "cannot read the step's CPUs")
		       : 0;
}

/* Whether the administrator switched balancing off. Tells a user who asked for it. */
static bool is_off(void)
{
	if (!mal_admin_is_off(balance_config.off_file))
		return false;
	if (balance_user_options.asked && step.node == 0)
		balance_tell_user("switched off by the administrator: the step runs unbalanced");
	return true;
}

/* Whether limits of its partition may be unknown. Tells a user who asked for balancing. */
static bool lacks_limits(void)
{
	if (step.limits_known)
		return false;
	if (balance_user_options.asked)
		balance_error(
			"cannot get the job's partition from slurmctld in time, and partitions "
			"have limits: the step runs unbalanced");
	return true;
}

/* Whether the job is a task of an array, for names of files. */
static void read_array(spank_t spank)
{
	uint32_t job, task;

	step.array_job[0] = step.array_task[0] = '\0';
	if (spank_get_item(spank, S_JOB_ARRAY_ID, &job) != ESPANK_SUCCESS || !job ||
	    spank_get_item(spank, S_JOB_ARRAY_TASK_ID, &task) != ESPANK_SUCCESS ||
	    task >= BALANCE_NO_TASK)
		return;
	snprintf(step.array_job, sizeof(step.array_job), "%u", job);
	snprintf(step.array_task, sizeof(step.array_task), "%u", task);
}

/* Whether the policy is in a file, which one node alone may lack: srun has found it. */
static bool is_in_file(void)
{
	struct mal_spec spec;

	return mal_spec_parse(balance_user_options.spec, &spec, NULL) == 0 && spec.policy[0] &&
	       !mal_policy_find(spec.policy);
}

/* Read what the user and the site want into STEP.CHOICE. */
static bool choose(spank_t spank)
{
	struct mal_error err;

	balance_options_complete(spank);
	balance_errors_to_log(!balance_user_options.asked);
	step.limits_known = balance_slurmctld_use_partition(step.job);
	balance_args_use_step(spank);
	balance_options_fall_back();
	if (mal_loadable_trust(balance_user_options.spec, balance_config.libdir,
			       balance_args_policies(), &step.choice, &err) == 0)
		return true;
	if (is_in_file())
		balance_error("%s; the step runs unbalanced", err.text);
	else
		balance_error_of_step("%s; the step runs unbalanced", err.text);
	return false;
}

/* A user who asked for a report or the like, but not for what it is about, is told so. */
static void warn_without_effect(void)
{
	const char *option = balance_options_without_effect();
	char text[160];

	if (!option || step.node != 0)
		return;
	snprintf(text, sizeof(text),
		 "--%s does nothing without --balance: add that, or --balance=observe", option);
	balance_tell_user(text);
}

/* Nothing keeps the step from being balanced as STEP.CHOICE says. */
static bool is_allowed(void)
{
	if (!step.choice.policy->decide)
		warn_without_effect();
	return step.choice.policy->decide && !is_off() && !lacks_limits();
}

/* Whether the step is to be balanced; STEP.CHOICE says how. */
static bool is_wanted(spank_t spank)
{
	if (!step.tasks || !choose(spank))
		return false;
	if (spank_getenv(spank, "SLURM_JOB_NAME", step.job_name, sizeof(step.job_name)) !=
	    ESPANK_SUCCESS)
		step.job_name[0] = '\0';
	read_array(spank);
	step.ranks = step.tasks;
	snprintf(step.name, sizeof(step.name), "%u.%u", step.job, step.id);
	return is_allowed();
}

/*
 * With grow=job: join the pool, with the CPUs that other steps leave idle in IDLE. On failure the
 * step keeps to its own CPUs.
 */
static void join_pool(struct mal_cpumask *idle)
{
	struct mal_error err;

	step.pool = balance_job_cpus_join(step.job, step.id, &step.cpus, step.choice.keys.pool_job,
					  &step.all, idle, &err);
	if (!step.pool)
		balance_error("grow=job: %s; the step keeps to its own CPUs", err.text);
}

/* Say in the pool whether the controller runs. */
static void settle_in_pool(bool runs)
{
	/* Its name is what its path has behind the directory. */
	if (step.pool &&
	    balance_job_cpus_settle(step.pool,
				    runs ? step.socket.path + sizeof(MAL_SOCKET_DIR) : "") < 0)
		step.pool = NULL;
}

/* Create the socket and the segment. */
static int make_channels(struct mal_error *err)
{
	/* Those of a slurmstepd that was killed are left. */
	balance_sockets_clean_up();
	if (balance_socket_make(&step.socket, step.job, step.id, step.user, step.group, err) < 0)
		return -1;
	if (step.daemon && mal_cpumask_count(&step.all) > 1)
		step.ranks = mal_cpumask_count(&step.all);
	step.fds.segment = mal_segment_create_for_ranks(step.ranks, &step.all, err);
	return step.fds.segment < 0 ? -1 : 0;
}

/* Start the controller; OPTIONS lack only descriptors. */
static int start_controller(struct mal_launch_options *options, struct mal_error *err)
{
	int cgroup = balance_tracker_open(step.id, err), result = -1;

	if (cgroup < -1)
		return -1;
	options->arguments.segment_fd = step.fds.segment;
	options->arguments.listen_fd = step.socket.fd;
	options->arguments.site_fd = step.fds.site = balance_site_report_make();
	options->arguments.cgroup_fds[0] = cgroup;
	options->arguments.cgroup_count = cgroup >= 0;
	result = mal_launch(&step.fds.controller, options, balance_deadline_left(get_wait_ms()),
			    err);
	if (cgroup >= 0)
		close(cgroup);
	/* While any process holds it open, others take the controller for running. */
	balance_socket_close(&step.socket);
	return result;
}

/* What the controller is told of the step: CPUS, IDLE and NODE are texts that last as long. */
static struct mal_arguments arguments_of_step(const char *cpus, const char *idle, const char *node)
{
	return (struct mal_arguments){
		MAL_ARGUMENTS_NO_FDS,
		.policy = balance_user_options.spec,
		.cpus = cpus,
		.idle = idle,
		.step = step.name,
		.libdir = balance_config.libdir,
		.node = node,
		.users_own =
			balance_user_options.policies[0] ? balance_user_options.policies : NULL,
		.allowed = balance_args_policies(),
		.off_file = balance_switch_link(),
		.min_cpus = balance_config.min_cpus,
		.job_name = step.job_name,
		.array_job = step.array_job[0] ? step.array_job : NULL,
		.array_task = step.array_task[0] ? step.array_task : NULL,
		.node_number = step.node,
		/* Nodes and components of a step may share a directory. */
		.node_files = step.nodes > 1 || balance_tracker_is_component(step.id),
		.report_file = mal_report_wish_file(balance_user_options.report),
		.trace_file = balance_user_options.trace[0] ? balance_user_options.trace : NULL,
		.brief = balance_options_report() == MAL_REPORT_BRIEF,
		.nodes = step.joined,
		.socket = step.socket.path,
		.becomes_user = true,
		.user = step.user,
		.group = step.group,
	};
}

static int start(struct mal_error *err)
{
	char cpus[MAL_CPUMASK_TEXT], idle[MAL_CPUMASK_TEXT], path[640], node[256] = "?";
	struct mal_cpumask idle_cpus = {{0}};
	struct mal_launch_options options = {.path = path};
	int result;

	gethostname(node, sizeof(node) - 1);
	snprintf(path, sizeof(path), "%s/malleabled", balance_config.libdir);
	if (access(path, X_OK) < 0)
		return mal_fail_errno(err, "%s", path);
	step.all = step.cpus;
	if (step.choice.keys.grow_job)
		join_pool(&idle_cpus);
	mal_cpumask_format(&step.all, cpus, sizeof(cpus));
	mal_cpumask_format(&idle_cpus, idle, sizeof(idle));
	options.arguments =
		arguments_of_step(cpus, mal_cpumask_count(&idle_cpus) ? idle : NULL, node);
	result = make_channels(err);
	if (result == 0)
		result = start_controller(&options, err);
	settle_in_pool(result == 0);
	return result;
}

/* Free what the step's balancing uses here. */
static void clear(void)
{
	balance_descriptors_close(&step.fds);
	balance_socket_remove(&step.socket);
}

/* A batch script, or the shell of an salloc: launchers in it are balanced. */
static void begin_script(spank_t spank)
{
	struct mal_error err;

	step.script = choose(spank) && is_allowed();
	if (!step.script)
		return;
	step.fds.script =
		balance_launchers_await(step.job, step.user, step.group, &step.fds.handovers, &err);
	if (step.fds.script < 0 || balance_descriptors_leave(&step.fds, &err) < 0)
		balance_error("%s; launchers in the script run unbalanced", err.text);
}

/* Its user hears if nothing in it was balanced. */
static void end_script(void)
{
	step.script = false;
	balance_deadline_set(get_wait_ms());
	balance_descriptors_take(&step.fds);
	balance_launchers_record(&step.fds.handovers, step.job, step.user);
	balance_launchers_end(&step.fds.script, step.id == BALANCE_BATCH_STEP &&
							balance_user_options.asked &&
							balance_options_report() != MAL_REPORT_OFF);
}

/* Called as root. */
static void begin(spank_t spank)
{
	struct mal_error err;

	balance_deadline_set(get_wait_ms());
	balance_switch_link();
	if (!step.numbered) {
		begin_script(spank);
		return;
	}
	balance_job_cpus_claim(step.job, step.id);
	if (!is_wanted(spank))
		return;
	if (find_cpus(&err) < 0 || start(&err) < 0) {
		balance_error("%s; the step runs unbalanced", err.text);
		clear();
		return;
	}
	step.active = true;
	if (balance_descriptors_leave(&step.fds, &err) < 0) {
		balance_error("%s; the step runs unbalanced", err.text);
		balance_step_end();
	}
}

void balance_step_begin(spank_t spank)
{
	if (find_number(spank))
		find_place(spank);
	else if (step.id != BALANCE_BATCH_STEP && step.id != BALANCE_INTERACTIVE_STEP)
		return;
	step.group = getegid();
	step.user = geteuid();
	if (step.user != 0 && seteuid(0) < 0) {
		balance_error("cannot become root: %s; the step runs unbalanced", strerror(errno));
		return;
	}
	/* Files that are made meanwhile are of root's group, whoever's step makes them first. */
	if (setegid(0) == 0)
		begin(spank);
	else
		balance_error("cannot take root's group: %s; the step runs unbalanced",
			      strerror(errno));
	if (setegid(step.group) == 0 && (geteuid() == step.user || seteuid(step.user) == 0))
		return;
	balance_error("cannot return to user %u: %s; the step runs unbalanced",
		      (unsigned int)step.user, strerror(errno));
	balance_step_end();
}

void balance_step_task_made(spank_t spank)
{
	struct mal_error err;
	pid_t pid;

	if (!step.pool || step.task_pid_count == MAL_MAX_RANKS)
		return;
	if (spank_get_item(spank, S_TASK_PID, &pid) == ESPANK_SUCCESS)
		step.task_pids[step.task_pid_count++] = pid;
	/* The tasks are held until the last callback returns. */
	if (step.task_pid_count == step.tasks &&
	    balance_job_cpus_widen(step.pool, step.task_pids, step.task_pid_count, &err) < 0)
		balance_error("grow=job: %s; the step keeps to its own CPUs", err.text);
}

void balance_step_task_begin(void)
{
	balance_descriptors_copy(&step.fds);
}

void balance_step_prepare_task(spank_t spank)
{
	struct mal_setup setup = {
		.libdir = balance_config.libdir,
		.cpus = &step.all,
		.home = step.pool ? &step.cpus : NULL,
		.socket = step.socket.path,
		.segment_fd = step.fds.segment,
		.keys = step.choice.keys,
		.bits = mal_choice_bits(&step.choice, balance_user_options.asked),
		.nodes = step.joined,
		.quiet = !balance_user_options.asked && balance_options_report() == MAL_REPORT_OFF,
		.mode = mal_choice_mode(&step.choice),
	};

	balance_task_forget(spank);
	if (step.script)
		balance_task_prepare_script(spank);
	if (!step.active)
		return;
	mal_launched_forget(&step.fds.controller);
	balance_task_prepare(spank, &setup, step.daemon);
}

/* Whether a rank should have come: the user asked for it, and a task ended well. */
static bool is_expected(void)
{
	return balance_user_options.asked && step.succeeded && step.node == 0;
}

/* Whoever has killed the tasks has killed their controller with them. */
static void tell_killed(void)
{
	if (balance_user_options.asked && step.node == 0 &&
	    balance_options_report() != MAL_REPORT_OFF)
		balance_tell_user("the step was killed, by scancel, MPI_Abort, a limit or a "
				  "signal: no report");
}

/* End the controller. TEXT, all 0 before, gets its report. */
static void end_controller(char *text, size_t size)
{
	int timeout_ms = balance_deadline_left(get_wait_ms() * 9 / 10);

	if (!mal_launched_end(&step.fds.controller, timeout_ms, text, size))
		balance_error("the controller of step %s did not end in time and was killed",
			      step.name);
	else if (mal_outcome_is_missing(text) && step.killed)
		tell_killed();
	else if (mal_outcome_is_missing(text))
		balance_error("the controller of step %s ended early: killed, perhaps by a memory "
			      "limit; the step continued without it",
			      step.name);
	else if (mal_outcome_failure(text))
		balance_error("the controller of step %s failed; the step continued without it",
			      step.name);
}

void balance_step_end(void)
{
	char text[4096] = {0}, node[256] = "?";

	if (!step.active)
		return;
	step.active = false;
	balance_deadline_set(get_wait_ms());
	balance_descriptors_take(&step.fds);
	balance_job_cpus_leave(step.pool);
	step.pool = NULL;
	end_controller(text, sizeof(text));
	gethostname(node, sizeof(node) - 1);
	balance_site_report_store(&step.fds.site, step.name, node, step.user, step.group);
	clear();
	if (mal_outcome_is_nothing(text) && is_expected() && !balance_tracker_is_component(step.id))
		mal_script_tell_no_ranks(step.job);
	balance_outcome_report(
		&(struct balance_outcome){.job = step.job,
					  .user = step.user,
					  .step = step.name,
					  .node = node,
					  .policy = step.choice.policy->name,
					  .ranks = step.ranks,
					  .cpus = mal_cpumask_count(&step.all),
					  .silent = balance_options_report() == MAL_REPORT_OFF,
					  .expected = is_expected()},
		text, sizeof(text));
}

void balance_step_task_ended(spank_t spank)
{
	int status;

	if (step.script)
		end_script();
	if (!step.active)
		return;
	if (spank_get_item(spank, S_TASK_EXIT_STATUS, &status) == ESPANK_SUCCESS) {
		step.killed |= WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		step.succeeded |= status == 0;
	}
	if (--step.tasks == 0)
		balance_step_end();
}

void balance_step_left(void)
{
	balance_step_end();
	balance_deadline_set(get_wait_ms());
	if (step.numbered)
		balance_job_cpus_give(step.job, step.id);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_step.c: a step's life in slurmstepd where the system fails it: identities, CPUs, a
 * controller that says nothing.
 */
#include "t/unit/unit.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/base/patience.h"
#include "libmalleable/core/env.h"
#include "spank/balance.c"
#include "spank/balanced_step.c"

#define USER 1000
#define GROUP 1001

int __wrap_access(const char *path, int mode);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
uid_t __wrap_geteuid(void);
gid_t __wrap_getegid(void);
int __wrap_setegid(gid_t gid);
int __wrap_seteuid(uid_t uid);
int __wrap_mal_cpumask_get_affinity(pid_t tid, struct mal_cpumask *mask);
int __wrap_mal_launch(struct mal_launched *controller, const struct mal_launch_options *options,
		      int timeout_ms, struct mal_error *err);
bool __wrap_mal_launched_end(struct mal_launched *controller, int timeout_ms, char *text,
			     size_t size);
void __wrap_mal_launched_forget(struct mal_launched *controller);
void __wrap_mal_script_tell_no_ranks(unsigned int job);

/* The system, and what was done. */
static struct {
	uid_t euid, user;
	gid_t egid;
	bool no_root, no_return, no_affinity, no_files, no_limits, in_time;
	uint32_t magic; /* what the controller's report begins with, 0: there is none */
	int task_status;
	spank_context_t context;
	int registered; /* what came of the options */
	unsigned int nodes, launched, ended, outcomes, variables, told, of_step;
	unsigned int nodes_heard; /* by the controller, if there are several */
	bool expected;		  /* by the user: that a rank came */
	bool quiet;		  /* ranks do not say why they are unbalanced */
	enum mal_report_wish report;
	int timeout_ms;	    /* of the last wait */
	uint32_t array_job; /* 0: the job is in no array */
	char array[32];	    /* as the controller hears */
	char threads[16];   /* of a task, at most */
	char errors[1024], user_told[256];
} now;

struct mal_site balance_config = {.libdir = "/nowhere", .wait_s = 1, .max_overcommit = 1};
struct mal_user_options balance_user_options = {.asked = true, .spec = "lewi,max_threads=7"};

int __wrap_access(const char *path, int mode)
{
	(void)path;
	(void)mode;
	return now.no_files ? -1 : 0;
}

/* Time stands still. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	*time = (struct timespec){1000, 0};
	return 0;
}

uid_t __wrap_geteuid(void)
{
	return now.euid;
}

gid_t __wrap_getegid(void)
{
	return now.egid;
}

/* Only root may. */
int __wrap_setegid(gid_t gid)
{
	errno = EPERM;
	if (now.euid != 0)
		return -1;
	now.egid = gid;
	return 0;
}

int __wrap_seteuid(uid_t uid)
{
	errno = EPERM;
	if (uid ? now.no_return : now.no_root)
		return -1;
	now.euid = uid;
	return 0;
}

/* A failing one has no CPU in MASK. */
int __wrap_mal_cpumask_get_affinity(pid_t tid, struct mal_cpumask *mask)
{
	(void)tid;
	errno = EPERM;
	memset(mask, 0, sizeof(*mask));
	return now.no_affinity ? -1 : mal_cpumask_parse("0-1", mask, NULL);
}

int __wrap_mal_launch(struct mal_launched *controller, const struct mal_launch_options *options,
		      int timeout_ms, struct mal_error *err)
{
	(void)err;
	assert_string_equal(options->arguments.cpus, "0-1");
	assert_true(options->arguments.becomes_user && options->arguments.user == now.user);
	assert_int_equal(options->arguments.group, GROUP);
	assert_int_equal(now.euid, 0);
	assert_int_equal(now.egid, 0);
	if (options->arguments.array_job && options->arguments.array_task)
		snprintf(now.array, sizeof(now.array), "%s_%s", options->arguments.array_job,
			 options->arguments.array_task);
	now.timeout_ms = timeout_ms;
	now.nodes_heard = options->arguments.nodes;
	assert_int_equal(options->arguments.node_files, now.nodes > 1);
	*controller = MAL_LAUNCHED_NONE;
	now.launched++;
	return 0;
}

bool __wrap_mal_launched_end(struct mal_launched *controller, int timeout_ms, char *text,
			     size_t size)
{
	(void)controller;
	now.timeout_ms = timeout_ms;
	assert_true(size > sizeof(now.magic));
	memcpy(text, &now.magic, sizeof(now.magic));
	now.ended++;
	return now.in_time;
}

void __wrap_mal_launched_forget(struct mal_launched *controller)
{
	(void)controller;
}

void __wrap_mal_script_tell_no_ranks(unsigned int job)
{
	assert_int_equal(job, 1);
	now.told++;
}

/* Slurm. */
spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	va_list to;

	(void)spank;
	va_start(to, item);
	switch (item) {
	case S_JOB_ID: *va_arg(to, uint32_t *) = 1; break;
	case S_JOB_NNODES: *va_arg(to, uint32_t *) = now.nodes; break;
	case S_JOB_STEPID:
	case S_JOB_NODEID:
	case S_TASK_ID: *va_arg(to, uint32_t *) = 0; break;
	case S_JOB_LOCAL_TASK_COUNT: *va_arg(to, uint32_t *) = 2; break;
	case S_JOB_ARRAY_ID: *va_arg(to, uint32_t *) = now.array_job; break;
	case S_JOB_ARRAY_TASK_ID: *va_arg(to, uint32_t *) = 5; break;
	case S_TASK_EXIT_STATUS: *va_arg(to, int *) = now.task_status; break;
	default: break;
	}
	va_end(to);
	return ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int replace)
{
	(void)spank;
	(void)replace;
	if (strcmp(name, MAL_ENV_MAX_THREADS) == 0)
		snprintf(now.threads, sizeof(now.threads), "%s", value);
	now.quiet |= strcmp(name, MAL_ENV_QUIET) == 0;
	now.variables++;
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
	(void)spank, (void)name;
	return ESPANK_SUCCESS;
}

/* The plugin's other files. */
void balance_put(enum balance_line line, const char *format, ...)
{
	size_t used = strlen(now.errors);
	va_list args;

	now.of_step += line == BALANCE_ERROR_OF_STEP;
	va_start(args, format);
	if (line != BALANCE_INFO)
		vsnprintf(now.errors + used, sizeof(now.errors) - used, format, args);
	va_end(args);
}

const char *balance_switch_link(void)
{
	return balance_config.off_file;
}

bool balance_tell_user(const char *text)
{
	snprintf(now.user_told, sizeof(now.user_told), "%s", text);
	return true;
}

const char *balance_args_policies(void)
{
	return NULL;
}

void balance_outcome_report(const struct balance_outcome *outcome, char *said, size_t size)
{
	(void)said;
	(void)size;
	now.outcomes++;
	now.expected = outcome->expected;
}

int balance_cgroup_find(struct balance_cgroup *cgroup, struct mal_error *err)
{
	(void)cgroup;
	(void)err;
	return -1;
}

int balance_cgroup_read(const struct balance_cgroup *cgroup, unsigned int number,
			struct mal_cpumask *cpus, struct mal_error *err)
{
	(void)cgroup;
	(void)number;
	(void)cpus;
	(void)err;
	return -1;
}

int balance_socket_make(struct balance_socket *socket, uint32_t job, uint32_t step_id, uid_t uid,
			gid_t gid, struct mal_error *err)
{
	(void)job;
	(void)step_id;
	(void)uid;
	(void)gid;
	(void)err;
	*socket = BALANCE_SOCKET_NONE;
	return 0;
}

int balance_tracker_open(uint32_t step_id, struct mal_error *err)
{
	(void)step_id;
	(void)err;
	return -1;
}

bool balance_tracker_is_component(uint32_t step_id)
{
	(void)step_id;
	return false;
}

/* A function that has nothing to do. */
#define IDLE(type, name, arguments, answer) \
	type name arguments \
	{ \
		return answer; \
	}
#define NOTHING
#pragma GCC diagnostic ignored "-Wunused-parameter"
IDLE(spank_context_t, spank_context, (void), now.context)
IDLE(void, balance_args_parse, (int count, char **arguments), NOTHING)
IDLE(int, balance_options_register, (spank_t spank), now.registered)
IDLE(void, balance_options_check_environment, (void), NOTHING)
IDLE(void, balance_options_forget_job, (void), NOTHING)
IDLE(void, balance_options_complete, (spank_t spank), NOTHING)
IDLE(void, balance_options_fall_back, (void), NOTHING)
IDLE(void, balance_args_use_step, (spank_t spank), NOTHING)
IDLE(const char *, balance_args_by_program, (void), "")
IDLE(enum mal_report_wish, balance_options_report, (void), now.report)
IDLE(const char *, balance_options_without_effect, (void), NULL)
IDLE(void, balance_errors_to_log, (bool alone), NOTHING)
IDLE(bool, balance_slurmctld_use_partition, (uint32_t job), !now.no_limits)
IDLE(void, balance_errors_from_node, (uint32_t number, uint32_t count), NOTHING)
IDLE(int, balance_site_report_make, (void), -1)
IDLE(void, balance_site_report_store,
     (int *fd, const char *step_name, const char *node, uid_t user, gid_t group), NOTHING)
IDLE(void, balance_socket_close, (struct balance_socket * socket), NOTHING)
IDLE(void, balance_socket_remove, (struct balance_socket * socket), NOTHING)
IDLE(void, balance_sockets_clean_up, (void), NOTHING)
IDLE(void, balance_contained_prepare, (void), NOTHING)
IDLE(void, balance_contained_begin, (void), NOTHING)
IDLE(pid_t, balance_contained_slurmstepd, (void), 1)
IDLE(int, balance_contained_leave, (int *fds, size_t count, struct mal_error *err), 0)
IDLE(void, balance_contained_take, (int *fds, size_t count, bool copy), NOTHING)
IDLE(void, balance_job_cpus_claim, (unsigned int job, unsigned int step_id), NOTHING)
IDLE(void, balance_job_cpus_give, (unsigned int job, unsigned int step_id), NOTHING)
IDLE(void, balance_job_cpus_leave, (struct balance_job_cpus * pool), NOTHING)
IDLE(int, balance_job_cpus_settle, (struct balance_job_cpus * pool, const char *socket), -1)
IDLE(int, balance_job_cpus_widen,
     (struct balance_job_cpus * pool, const pid_t *tasks, unsigned int count,
      struct mal_error *err),
     -1)
IDLE(struct balance_job_cpus *, balance_job_cpus_join,
     (unsigned int job, unsigned int step_id, const struct mal_cpumask *cpus, bool pooled,
      struct mal_cpumask *all, struct mal_cpumask *idle, struct mal_error *err),
     NULL)

void balance_job_cpus_clean_up(unsigned int own_job)
{
	now.timeout_ms = balance_deadline_left(INT_MAX);
}

static int set_up(void **state)
{
	(void)state;
	memset(&now, 0, sizeof(now));
	now.euid = now.user = USER;
	now.egid = GROUP;
	now.in_time = true;
	now.magic = MAL_OUTCOME_MAGIC;
	now.report = MAL_REPORT_FULL;
	now.context = S_CTX_SLURMD;
	now.nodes = 1;
	memset(&step, 0, sizeof(step));
	step.fds.controller = MAL_LAUNCHED_NONE;
	step.fds.segment = -1;
	return 0;
}

static bool was_said(const char *part)
{
	return strstr(now.errors, part);
}

/* Its two tasks end. */
static void tasks_end(void)
{
	balance_step_task_ended(NULL);
	assert_int_equal(now.ended, 0);
	balance_step_task_ended(NULL);
	assert_int_equal(now.ended, 1);
	assert_int_equal(step.fds.segment, -1);
}

static void step_runs_and_ends_well(void **state)
{
	(void)state;
	balance_step_begin(NULL);
	assert_int_equal(now.launched, 1);
	assert_int_equal(now.euid, USER);
	assert_int_equal(now.egid, GROUP);
	balance_step_prepare_task(NULL);
	assert_string_equal(now.threads, "2");
	tasks_end();
	assert_int_equal(now.outcomes, 1);
	assert_string_equal(now.errors, "");
	balance_step_end();
	assert_int_equal(now.ended, 1);
}

/* A step of the first user after root's is begun by root as well. */
static void steps_of_user_1_are_begun_by_root(void **state)
{
	(void)state;
	now.euid = now.user = 1;
	balance_step_begin(NULL);
	assert_int_equal(now.launched, 1);
	assert_int_equal(now.euid, 1);
}

/* Controllers of several nodes report together, and do not write to the same files. */
static void controllers_hear_of_other_nodes(void **state)
{
	(void)state;
	now.nodes = 3;
	balance_step_begin(NULL);
	assert_int_equal(now.launched, 1);
	assert_int_equal(now.nodes_heard, 3);
	tasks_end();
}

/* Without the step's CPUs there is no mask to start anything with. */
static void without_cpus_nothing_starts(void **state)
{
	(void)state;
	now.no_affinity = true;
	balance_step_begin(NULL);
	assert_int_equal(now.launched, 0);
	assert_true(was_said("cannot read the step's CPUs"));
	assert_true(was_said("; the step runs unbalanced"));
	assert_int_equal(now.euid, USER);
	assert_int_equal(now.egid, GROUP);
	balance_step_prepare_task(NULL);
	balance_step_task_ended(NULL);
	balance_step_task_ended(NULL);
	assert_int_equal(now.variables + now.ended + now.outcomes, 0);
}

/* Where slurmctld does not tell what the partition allows, the step may be one that may not. */
static void without_limits_nothing_starts(void **state)
{
	(void)state;
	now.no_limits = true;
	balance_step_begin(NULL);
	assert_int_equal(now.launched, 0);
	assert_true(was_said("cannot get the job's partition"));
	balance_step_prepare_task(NULL);
	assert_int_equal(now.variables, 0);
	balance_step_task_ended(NULL);
	balance_step_task_ended(NULL);
	assert_int_equal(now.ended + now.outcomes, 0);
}

/* A task whose own CPUs are unknown has what its user asked for. */
static void no_cpus_of_task(void **state)
{
	(void)state;
	balance_step_begin(NULL);
	now.no_affinity = true;
	balance_step_prepare_task(NULL);
	assert_string_equal(now.threads, "7");
	tasks_end();
}

/* Nothing of ours goes on as root: the controller ends there and then, and tasks know of none. */
static void no_way_back(void **state)
{
	(void)state;
	now.no_return = true;
	balance_step_begin(NULL);
	assert_int_equal(now.launched, 1);
	assert_int_equal(now.ended, 1);
	assert_int_equal(step.fds.segment, -1);
	assert_true(was_said("cannot return to user 1000"));
	balance_step_prepare_task(NULL);
	assert_int_equal(now.variables, 0);
	balance_step_task_ended(NULL);
	balance_step_task_ended(NULL);
	balance_step_left();
	assert_int_equal(now.ended, 1);
}

static void without_root_nothing_starts(void **state)
{
	(void)state;
	now.no_root = true;
	balance_step_begin(NULL);
	assert_int_equal(now.launched, 0);
	assert_true(was_said("cannot become root"));
}

/* A controller that ends without a word was killed, and that is said. */
static void silent_end_was_a_kill(void **state)
{
	(void)state;
	now.magic = 0;
	balance_step_begin(NULL);
	tasks_end();
	assert_true(was_said("the controller of step 1.0 ended early"));
	/* One that says that it failed was not killed. */
	set_up(NULL);
	now.magic = MAL_OUTCOME_FAILED;
	balance_step_begin(NULL);
	tasks_end();
	assert_true(was_said("the controller of step 1.0 failed"));
	assert_false(was_said("ended early"));
	/* A program that crashes kills nobody else. */
	set_up(NULL);
	now.magic = 0;
	balance_step_begin(NULL);
	now.task_status = SIGSEGV;
	tasks_end();
	assert_true(was_said("the controller of step 1.0 ended early"));
	assert_string_equal(now.user_told, "");
}

/* Files of an array's tasks have its number and theirs. */
static void array(void **state)
{
	(void)state;
	for (uint32_t job = 0; job < 20; job += 10) {
		set_up(NULL);
		now.array_job = job;
		balance_step_begin(NULL);
		assert_string_equal(now.array, job ? "10_5" : "");
		tasks_end();
	}
}

/*
 * Not where it had nothing to say, nor where the step was killed with it: then its user, who asked
 * for a report, hears why there is none.
 */
static void killed_step_says_why_no_report(void **state)
{
	(void)state;
	now.magic = MAL_OUTCOME_NOTHING;
	balance_step_begin(NULL);
	tasks_end();
	assert_string_equal(now.errors, "");
	set_up(NULL);
	now.magic = 0;
	balance_step_begin(NULL);
	now.task_status = SIGKILL;
	balance_step_task_ended(NULL);
	now.task_status = 0;
	balance_step_task_ended(NULL);
	assert_int_equal(now.ended, 1);
	assert_string_equal(now.errors, "");
	assert_non_null(strstr(now.user_told, "was killed"));
	assert_non_null(strstr(now.user_told, "no report"));
}

/*
 * A rank is waited for by a user who asked for it, where a program ended well. The batch script is
 * told where none came.
 */
static void rank_that_was_expected_is_missed(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		set_up(NULL);
		balance_user_options.asked = i & 1;
		balance_step_begin(NULL);
		now.task_status = SIGTERM;
		balance_step_task_ended(NULL);
		now.task_status = i & 2 ? 0 : 2 << 8;
		balance_step_task_ended(NULL);
		assert_int_equal(now.expected, i == 3);
		assert_int_equal(now.told, 0);
	}
	set_up(NULL);
	now.magic = MAL_OUTCOME_NOTHING;
	balance_step_begin(NULL);
	tasks_end();
	assert_int_equal(now.told, 1);
	balance_user_options.asked = true;
}

/* Ranks say nothing where nobody asked for balancing, and nobody wants a report of it. */
static void nobody_asked(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		set_up(NULL);
		balance_user_options.asked = i & 1;
		now.report = i & 2 ? MAL_REPORT_OFF : MAL_REPORT_FULL;
		balance_step_begin(NULL);
		balance_step_prepare_task(NULL);
		assert_int_equal(now.quiet, i == 2);
		tasks_end();
	}
	balance_user_options.asked = true;
}

/* One that did not end in time was killed by us: one line is enough. */
static void late_end_has_one_line(void **state)
{
	(void)state;
	now.magic = 0;
	now.in_time = false;
	balance_step_begin(NULL);
	tasks_end();
	assert_true(was_said("did not end in time and was killed"));
	assert_false(was_said("ended early"));
}

/* Up to the site's limit, and with its patience; and slurmd at its start. */
static void waits_have_limits(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		int times = (i & 1 ? 60 : 1) * (i & 2 ? 5 : 1);

		set_up(NULL);
		mal_patience_set(i & 1 ? 60 : 1);
		balance_config.wait_s = i & 2 ? 5 : 1;
		balance_step_begin(NULL);
		assert_int_equal(now.timeout_ms, 1000 * times);
		tasks_end();
		assert_int_equal(now.timeout_ms, 900 * times);
		slurm_spank_init(NULL, 0, NULL);
		assert_int_equal(now.timeout_ms, i & 1 ? 60000 : 1000);
	}
	mal_patience_set(1);
	balance_config.wait_s = 1;
}

/* Wrong parameters are wrong on all nodes; a policy's file may be missing on this one alone. */
static void policy_is_refused(void **state)
{
	struct mal_user_options before = balance_user_options;

	(void)state;
	strcpy(balance_user_options.spec, "lewi,colour=blue");
	balance_step_begin(NULL);
	assert_true(was_said("colour"));
	assert_int_equal(now.of_step, 1);
	now.no_files = true;
	strcpy(balance_user_options.spec, "inafile");
	balance_step_begin(NULL);
	assert_true(was_said("inafile"));
	assert_int_equal(now.of_step, 1);
	assert_int_equal(now.launched, 0);
	balance_user_options = before;
}

/* Where the plugin is required, a failing slurm_spank_init() in slurmstepd drains the node. */
static void wrong_options_fail_nothing(void **state)
{
	(void)state;
	now.registered = -1;
	assert_int_equal(slurm_spank_init(NULL, 0, NULL), 0);
	now.context = S_CTX_REMOTE;
	assert_int_equal(slurm_spank_init(NULL, 0, NULL), 0);
	now.context = S_CTX_LOCAL;
	assert_int_equal(slurm_spank_init(NULL, 0, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(step_runs_and_ends_well, set_up),
		cmocka_unit_test_setup(steps_of_user_1_are_begun_by_root, set_up),
		cmocka_unit_test_setup(controllers_hear_of_other_nodes, set_up),
		cmocka_unit_test_setup(without_limits_nothing_starts, set_up),
		cmocka_unit_test_setup(without_cpus_nothing_starts, set_up),
		cmocka_unit_test_setup(no_cpus_of_task, set_up),
		cmocka_unit_test_setup(no_way_back, set_up),
		cmocka_unit_test_setup(without_root_nothing_starts, set_up),
		cmocka_unit_test_setup(silent_end_was_a_kill, set_up),
		cmocka_unit_test_setup(array, set_up),
		cmocka_unit_test_setup(killed_step_says_why_no_report, set_up),
		cmocka_unit_test_setup(rank_that_was_expected_is_missed, set_up),
		cmocka_unit_test_setup(nobody_asked, set_up),
		cmocka_unit_test_setup(late_end_has_one_line, set_up),
		cmocka_unit_test_setup(waits_have_limits, set_up),
		cmocka_unit_test_setup(policy_is_refused, set_up),
		cmocka_unit_test_setup(wrong_options_fail_nothing, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

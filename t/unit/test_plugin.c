/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_plugin.c: what the plugin reads and sets in srun, sbatch and slurmstepd: options, the
 * environment of scripts, and lines that it prints.
 */
#include "t/unit/unit.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/core/launcher_table.h"
#include "spank/deadline.h"
#include "spank/launchers.h"
#include "spank/plugin.h"

#define OPTIONS 3

/* Slurm: where we are, the options that were registered, a job's environment, and its program. */
static spank_context_t context;
static struct spank_option options[OPTIONS];
static int option_count;
static const char *job_variables[8][2];
static char *job_program;
/* What it logged last, and how many errors. */
static char logged[1024];
static unsigned int errors;

spank_context_t spank_context(void)
{
	return context;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	(void)spank;
	assert_in_range(option_count, 0, OPTIONS - 1);
	options[option_count++] = *option;
	return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *value, int size)
{
	(void)spank;
	for (size_t i = 0; i < 8 && job_variables[i][0]; i++)
		if (strcmp(name, job_variables[i][0]) == 0) {
			return snprintf(value, (size_t)size, "%s", job_variables[i][1]) < size
				       ? ESPANK_SUCCESS
				       : ESPANK_NOSPACE;
		}
	return ESPANK_ENV_NOEXIST;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	va_list to;

	(void)spank;
	if (item != S_JOB_ARGV)
		return ESPANK_NOT_AVAIL;
	va_start(to, item);
	*va_arg(to, int *) = job_program != NULL;
	*va_arg(to, char ***) = &job_program;
	va_end(to);
	return ESPANK_SUCCESS;
}

static void log_line(const char *format, va_list args)
{
	vsnprintf(logged, sizeof(logged), format, args);
	if (context == S_CTX_REMOTE)
		dprintf(STDERR_FILENO, "%s\n", logged);
}

void slurm_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(format, args);
	va_end(args);
	errors++;
}

void slurm_info(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(format, args);
	va_end(args);
}

static int set_up(void **state)
{
	(void)state;
	context = S_CTX_LOCAL;
	option_count = 0;
	memset(job_variables, 0, sizeof(job_variables));
	memset(&balance_user_options, 0, sizeof(balance_user_options));
	balance_config = (struct mal_site){.libdir = "/opt/lib"};
	errors = 0;
	logged[0] = '\0';
	balance_deadline_set(1000);
	assert_int_equal(balance_options_register(NULL), 0);
	assert_int_equal(option_count, OPTIONS);
	unsetenv("SLURM_BALANCE");
	unsetenv("SLURM_BALANCE_GIVEN");
	unsetenv("SLURM_BALANCE_REPORT");
	return 0;
}

/* NAME=TEXT is given, REMOTE in slurmstepd. */
static int give(const char *name, const char *text, bool remote)
{
	for (int i = 0; i < OPTIONS; i++)
		if (strcmp(options[i].name, name) == 0)
			return options[i].cb(options[i].val, text, remote);
	fail_msg("there is no option %s", name);
	return -1;
}

static void options_take_values(void **state)
{
	(void)state;
	assert_string_equal(options[0].name, "balance");
	assert_int_equal(options[0].has_arg, 2);
	assert_int_equal(options[2].has_arg, 1);
}

static void policies(void **state)
{
	char longest[600];

	(void)state;
	assert_int_equal(give("balance", NULL, false), 0);
	assert_string_equal(balance_user_options.spec, "auto");
	assert_int_equal(give("balance", "(null)", false), 0);
	assert_string_equal(balance_user_options.spec, "auto");
	assert_int_equal(give("balance", "lewi,max_threads=4", false), 0);
	assert_string_equal(balance_user_options.spec, "lewi,max_threads=4");
	assert_true(balance_user_options.given);
	assert_null(getenv("SLURM_BALANCE"));
	assert_int_equal(errors, 0);
	memset(&balance_user_options, 0, sizeof(balance_user_options));
	assert_int_equal(give("balance", "blue", false), -1);
	assert_non_null(strstr(logged, "balance: unknown policy 'blue'"));
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(balance_user_options.spec)] = '\0';
	assert_int_equal(give("balance", longest, false), -1);
	assert_non_null(strstr(logged, "too long"));
	assert_int_equal(errors, 2);
	assert_false(balance_user_options.given);
	/* slurmstepd takes what srun has checked. */
	assert_int_equal(give("balance", "blue", true), 0);
	assert_string_equal(balance_user_options.spec, "blue");
}

/* Files have the directory of the one who names them; words have none. */
static void files(void **state)
{
	char directory[256], expected[300];

	(void)state;
	assert_non_null(getcwd(directory, sizeof(directory)));
	assert_int_equal(give("balance-report", NULL, false), 0);
	assert_null(getenv("SLURM_BALANCE_REPORT"));
	assert_int_equal(give("balance-report", "a/b", true), 0);
	assert_null(getenv("SLURM_BALANCE_REPORT"));
	assert_int_equal(give("balance-report", "a/b", false), 0);
	snprintf(expected, sizeof(expected), "%s/a/b", directory);
	assert_string_equal(getenv("SLURM_BALANCE_REPORT"), expected);
	assert_int_equal(give("balance-report", "/a/b", false), 0);
	assert_string_equal(getenv("SLURM_BALANCE_REPORT"), "/a/b");
	assert_int_equal(give("balance-report", "full", false), 0);
	assert_string_equal(getenv("SLURM_BALANCE_REPORT"), "full");
	assert_int_equal(give("balance-trace", "full", false), 0);
	snprintf(expected, sizeof(expected), "%s/full", directory);
	assert_string_equal(getenv("SLURM_BALANCE_TRACE"), expected);
	assert_int_equal(give("balance-trace", "off", false), 0);
	assert_string_equal(getenv("SLURM_BALANCE_TRACE"), "off");
	unsetenv("SLURM_BALANCE_TRACE");
}

/* A job's options are in its environment, for its steps, and not for a job that it submits. */
static void steps_of_a_job(void **state)
{
	(void)state;
	context = S_CTX_ALLOCATOR;
	for (int changed = 0; changed < 2; changed++) {
		assert_int_equal(give("balance", "lewi", false), 0);
		assert_string_equal(getenv("SLURM_BALANCE"), "lewi");
		setenv("SLURM_SPANK__SLURM_SPANK_OPTION_balance_balance_report", "x", 1);
		if (changed)
			setenv("SLURM_BALANCE", "sabo", 1);
		balance_options_forget_job();
		assert_int_equal(getenv("SLURM_BALANCE") != NULL, changed);
		assert_null(getenv("SLURM_BALANCE_GIVEN"));
		assert_null(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_balance_balance_report"));
	}
}

/* In slurmstepd options go before the environment, and that before the site's default. */
static void a_steps_wish(void **state)
{
	char longest[2000];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	context = S_CTX_REMOTE;
	strcpy(balance_config.fallback, "sabo");
	balance_config.report = MAL_REPORT_OFF;
	balance_options_complete(NULL);
	balance_options_fall_back();
	assert_false(balance_user_options.asked);
	assert_string_equal(balance_user_options.spec, "sabo");
	assert_int_equal(balance_options_report(), MAL_REPORT_OFF);
	job_variables[0][0] = "SLURM_BALANCE";
	job_variables[0][1] = "lewi";
	job_variables[1][0] = "SLURM_BALANCE_TRACE";
	job_variables[1][1] = longest;
	job_variables[2][0] = "SLURM_BALANCE_REPORT";
	job_variables[2][1] = "off";
	balance_options_complete(NULL);
	balance_options_fall_back();
	assert_true(balance_user_options.asked);
	assert_string_equal(balance_user_options.spec, "lewi");
	assert_string_equal(balance_user_options.trace, "");
	assert_string_equal(balance_user_options.report, "off");
	job_variables[1][1] = "off";
	job_variables[2][1] = "/r";
	assert_int_equal(give("balance", "explore", true), 0);
	balance_options_complete(NULL);
	balance_options_fall_back();
	assert_string_equal(balance_user_options.spec, "explore");
	assert_string_equal(balance_user_options.trace, "");
	assert_int_equal(balance_options_report(), MAL_REPORT_FULL);
	assert_null(balance_options_without_effect());
}

/* A report without --balance: its user is told; not of one that is off. */
static void without_effect(void **state)
{
	(void)state;
	context = S_CTX_REMOTE;
	assert_int_equal(give("balance-report", "off", true), 0);
	assert_null(balance_options_without_effect());
	assert_int_equal(give("balance-trace", "t", true), 0);
	assert_int_equal(give("balance-report", "r", true), 0);
	assert_string_equal(balance_options_without_effect(), "balance-trace");
}

/* srun ends where its environment has a wrong policy, as it ignores what the plugin returns. */
static int status_with(const char *spec)
{
	pid_t child;
	int status;

	setenv("SLURM_BALANCE", spec, 1);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		balance_options_check_environment();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WEXITSTATUS(status);
}

static void wrong_environment(void **state)
{
	(void)state;
	balance_options_check_environment();
	assert_int_equal(status_with("lewi"), 0);
	assert_int_equal(status_with(""), 0);
	assert_int_equal(status_with("blue"), 1);
	balance_user_options.given = true;
	assert_int_equal(status_with("blue"), 0);
}

/* The variable of each launcher's agent that is set; empty: none is. */
static void expect_agents(const char *text)
{
	for (const struct mal_launcher *each = mal_launchers; each->name; each++)
		if (each->agent && *text)
			assert_non_null(strstr(getenv(each->agent), text));
		else if (each->agent)
			assert_null(getenv(each->agent));
}

static void agents(void **state)
{
	(void)state;
	expect_agents("");
	assert_true(balance_launchers_set(&mal_setup_own));
	expect_agents("/opt/lib/malleable-join");
	setenv("MALLEABLE_JOB", "lewi", 1);
	balance_launchers_unset(&mal_setup_own);
	expect_agents("");
	assert_null(getenv("MALLEABLE_JOB"));
	/* One of the user's stays. */
	setenv("OMPI_MCA_orte_fork_agent", "mine", 1);
	assert_true(balance_launchers_set(&mal_setup_own));
	assert_string_equal(getenv("OMPI_MCA_orte_fork_agent"), "mine");
	balance_launchers_unset(&mal_setup_own);
	assert_string_equal(getenv("OMPI_MCA_orte_fork_agent"), "mine");
	unsetenv("OMPI_MCA_orte_fork_agent");
	/* The launcher would cut this at the blank. */
	strcpy(balance_config.libdir, "/my lib");
	assert_false(balance_launchers_set(&mal_setup_own));
	expect_agents("");
}

/* A daemon's job may have more nodes than its step. */
static void daemons(void **state)
{
	uint32_t nodes = 1;

	(void)state;
	job_variables[0][0] = "SLURM_JOB_NUM_NODES";
	job_variables[0][1] = "4";
	job_program = (char[]){"/usr/bin/app"};
	assert_false(balance_launchers_find_daemon(NULL, &nodes));
	job_program = (char[]){"hydra_pmi_proxy"};
	assert_true(balance_launchers_find_daemon(NULL, &nodes));
	assert_int_equal(nodes, 1);
	job_program = (char[]){"/opt/bin/orted"};
	assert_true(balance_launchers_find_daemon(NULL, &nodes));
	assert_int_equal(nodes, 4);
	job_variables[0][1] = "1";
	nodes = 2;
	assert_true(balance_launchers_find_daemon(NULL, &nodes));
	assert_int_equal(nodes, 2);
	job_program = NULL;
	assert_false(balance_launchers_find_daemon(NULL, &nodes));
}

/* What a line quotes cannot end it, nor look like a line of ours. */
static void lines(void **state)
{
	(void)state;
	balance_info("%s", "uid=0\nbalance: x");
	assert_string_equal(logged, "balance: uid?0?balance? x");
	balance_log_step("uid=5");
	assert_string_equal(logged, "balance: uid=5");
	balance_errors_from_node(1, 2);
	balance_error_of_step("wrong");
	assert_string_equal(logged, "balance: wrong");
	assert_int_equal(errors, 0);
	balance_errors_from_node(0, 1);
	balance_error_of_step("wrong");
	balance_error("wrong");
	assert_string_equal(logged, "balance: wrong");
	assert_int_equal(errors, 2);
}

/* slurmstepd's users get errors, unless they asked for nothing. */
static void users_lines(void **state)
{
	int ends[2], kept = dup(STDERR_FILENO);
	char text[256];
	ssize_t length;

	(void)state;
	context = S_CTX_REMOTE;
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	balance_error("one");
	balance_errors_to_log(true);
	balance_error("two");
	balance_errors_to_log(false);
	assert_true(balance_tell_user("three"));
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(ends[1]);
	length = read(ends[0], text, sizeof(text) - 1);
	close(ends[0]);
	assert_true(length >= 0);
	text[length] = '\0';
	assert_string_equal(text, "balance: one\nbalance: three\n");
	assert_string_equal(logged, "balance: two");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First: as slurmstepd, it forgets nothing. */
		cmocka_unit_test_setup(without_effect, set_up),
		cmocka_unit_test_setup(options_take_values, set_up),
		cmocka_unit_test_setup(policies, set_up),
		cmocka_unit_test_setup(files, set_up),
		cmocka_unit_test_setup(steps_of_a_job, set_up),
		cmocka_unit_test_setup(a_steps_wish, set_up),
		cmocka_unit_test_setup(wrong_environment, set_up),
		cmocka_unit_test_setup(agents, set_up),
		cmocka_unit_test_setup(daemons, set_up),
		cmocka_unit_test_setup(lines, set_up),
		cmocka_unit_test_setup(users_lines, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

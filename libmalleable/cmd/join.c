/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * join.c: malleable-join, which executes a rank's program: Open MPI and PRRTE start it in front of
 * each, as their fork agent. Whatever fails, the program is executed.
 *
 * Invariant: whatever fails, the program is executed as without us (t/t2019-launchers.t).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/input.h"
#include "libmalleable/base/number.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/cmd/launcher_group.h"
#include "libmalleable/cmd/standalone.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/inside.h"
#include "libmalleable/core/launcher_table.h"
#include "libmalleable/core/off_file.h"
#include "libmalleable/core/report_wish.h"
#include "libmalleable/core/script.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/core/starts.h"
#include "libmalleable/loadable/loadable.h"
#include "libmalleable/loadable/site.h"

/* How long a rank may wait for its controller. */
#define JOIN_MS 20000
#define DESCRIPTORS 1024

static const char usage[] =
	"PROGRAM [ARGUMENT...]\n"
	"\n"
	"Executes PROGRAM, a rank that mpirun starts in a balanced job. The plugin makes\n"
	"it the fork agent of Open MPI and PRRTE.\n";

static const struct mal_tool tool = {.name = "malleable-join", .usage = usage};

/* For what is said once. */
static bool is_first(void)
{
	const char *rank = mal_launcher_value(environ, MAL_LAUNCHER_LOCAL_RANK);

	if (!rank)
		rank = mal_launcher_value(environ, MAL_LAUNCHER_RANK);
	return rank && strcmp(rank, "0") == 0;
}

/* What the site wants printed of launchers that nobody asked to balance; NULL: somebody did. */
static const char *report_unasked(void)
{
	return getenv("SLURM_BALANCE") ? NULL : getenv(MAL_ENV_JOB_REPORT);
}

static bool is_quiet(void)
{
	const char *report = report_unasked();

	return report && mal_report_wish(report) == MAL_REPORT_OFF;
}

static void print_once(const char *text)
{
	if (is_first() && !is_quiet())
		mal_print_line(stderr, "balance: %s", text);
}

/* The shell of salloc, not in a step: nothing here is in the allocation. */
static bool is_in_job(void)
{
	const char *asked = getenv("SLURM_BALANCE");

	if (getenv(MAL_ENV_JOB)) {
		mal_script_tell();
		return true;
	}
	if (asked && strcmp(asked, "off") != 0 && !getenv("SLURM_STEP_ID"))
		print_once("the launcher runs outside of the job's steps: the ranks that it starts "
			   "here "
			   "run unbalanced; srun --balance starts balanced ones");
	return false;
}

/* The site's default for PROGRAM, in a job that asked for nothing. */
static const char *find_default(const char *program)
{
	const char *words = getenv(MAL_ENV_JOB_PROGRAMS), *policy = NULL;
	static char copy[2048];

	if (words && strlen(words) < sizeof(copy))
		policy = mal_site_of_program(strcpy(copy, words), program);
	return policy ? policy : getenv(MAL_ENV_JOB);
}

/* Whether the rank of PROGRAM is to be balanced, and how. */
static bool is_wanted(struct mal_launcher_group *group, const char *program)
{
	const struct mal_setting *setting;
	struct mal_error err;

	if (mal_inside() || !is_in_job())
		return false;
	for (size_t i = 0; (setting = mal_setting_at(MAL_SETTING_OPTION, i)); i++) {
		const char *value = getenv(setting->variable);

		if (i == 0 && !value)
			value = find_default(program);
		if (!value && setting->offset == offsetof(struct mal_user_options, report))
			value = report_unasked();
		if (mal_setting_set(setting, &group->user_options, value ? value : "", &err) < 0) {
			print_once(err.text);
			return false;
		}
	}
	if (mal_loadable_add(getenv(MAL_LOADABLE_VARIABLE), &err) < 0 ||
	    mal_loadable_choose(group->user_options.spec, group->libdir,
				getenv(MAL_ENV_JOB_POLICIES), &group->choice, &err) < 0) {
		print_once(err.text);
		return false;
	}
	if (!group->choice.policy->decide)
		return false;
	if (mal_admin_is_off(mal_admin_off_file())) {
		print_once("switched off by the administrator: the ranks run unbalanced");
		return false;
	}
	if (group->choice.keys.grow_job)
		print_once("grow=job, pool=job: the ranks of a launcher keep to their own CPUs");
	return true;
}

/* Those of the job, if the launcher starts ranks on others of them than this one; else 0. */
static unsigned int count_nodes(void)
{
	unsigned int here, all, nodes = 0;

	if (mal_launcher_number(environ, MAL_LAUNCHER_LOCAL_SIZE, UINT_MAX, &here) &&
	    mal_launcher_number(environ, MAL_LAUNCHER_SIZE, UINT_MAX, &all) && all > here)
		mal_number_parse(getenv("SLURM_JOB_NUM_NODES"), 2, MAL_LAUNCHED_NODES, &nodes);
	return nodes;
}

/* Nothing of the rank's but its standard error, all CPUs of the launcher, and no signals. */
static void detach(const struct mal_launcher_group *group)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2};
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS; fd++)
		if (fd != group->listening && fd != group->rendezvous.directory)
			close(fd);
	mal_cpumask_set_affinity(0, &group->cpus);
}

/*
 * Its parent is not the rank, which would have a child that it does not know. Returns whether it
 * runs.
 */
static bool start_leader(const struct mal_launcher_group *group)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		setsid();
		child = fork();
		if (child == 0) {
			detach(group);
			mal_launcher_group_run(group);
		}
		_exit(child < 0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Connect to the leader of the group; start it if there is none. Returns -1 with ERR on failure. */
static int meet(struct mal_launcher_group *group, long deadline, struct mal_error *err)
{
	int fd;

	do {
		fd = mal_rendezvous_connect(&group->rendezvous, deadline, &group->listening, err);
		if (fd >= 0 || group->listening < 0)
			return fd;
		if (!start_leader(group)) {
			mal_rendezvous_end(&group->rendezvous, group->listening);
			return mal_fail(err, "cannot start the controller of the ranks");
		}
		close(group->listening);
	} while (mal_now_ms() < deadline);
	return mal_fail(err, "the launcher's ranks did not meet in time");
}

/* Ask once. Returns 0 with the answer, or -1 with ERR. */
static int ask(struct mal_launcher_group *group, long deadline, int *segment,
	       struct mal_launcher_group_answer *answer, struct mal_error *err)
{
	struct mal_launcher_group_request request = {0};
	int own = (int)syscall(SYS_pidfd_open, getpid(), 0), fd, result = -1;

	if (own < 0 || mal_cpumask_get_affinity(0, &request.cpus) < 0)
		return mal_fail_errno(err, "cannot open a pidfd of this process");
	mal_launcher_number(environ, MAL_LAUNCHER_LOCAL_SIZE, MAL_MAX_RANKS, &request.expected);
	fd = meet(group, deadline, err);
	if (fd >= 0) {
		if (mal_descriptor_send(fd, own, &request, sizeof(request)) == 0 &&
		    mal_descriptor_wait(fd, POLLIN, deadline) &&
		    mal_descriptor_receive(fd, segment, answer, sizeof(*answer)) ==
			    (ssize_t)sizeof(*answer))
			result = 0;
		else
			mal_fail(err, "the launcher's ranks did not meet in time");
		close(fd);
	}
	close(own);
	return result;
}

/* Get the segment of the launcher's controller. Returns 0, *RECEIVED -1: none. */
static int come(struct mal_launcher_group *group, int *received,
		struct mal_launcher_group_answer *answer, struct mal_error *err)
{
	long deadline = mal_now_ms() + mal_patience_ms(JOIN_MS);
	int result;

	if (mal_rendezvous_find(&group->rendezvous, err) < 0)
		return -1;
	/* The group before ours may just have ended. */
	result = ask(group, deadline, received, answer, err);
	if (result < 0)
		result = ask(group, deadline, received, answer, err);
	close(group->rendezvous.directory);
	return result;
}

/* Make this process's program a rank of the launcher's controller. */
static void join(struct mal_launcher_group *group)
{
	struct mal_launcher_group_answer answer;
	const struct mal_standalone_options how = {
		.choice = &group->choice,
		.libdir = group->libdir,
		.cpus = &answer.cpus,
		.nodes = group->nodes,
	};
	struct mal_standalone standalone = {.socket = ""};
	struct mal_error err;
	struct mal_setup setup;
	int received = -1;

	if (come(group, &received, &answer, &err) < 0 && is_first() && !is_quiet())
		mal_print_line(stderr, "balance: %s; they run unbalanced", err.text);
	if (received < 0)
		return;
	standalone.segment_fd = fcntl(received, F_DUPFD, MAL_SEGMENT_FD_MIN);
	close(received);
	memcpy(standalone.socket, answer.socket, sizeof(standalone.socket) - 1);
	setup = mal_standalone_setup(&standalone, &how);
	setup.bits = mal_choice_bits(how.choice, !report_unasked());
	setup.quiet = is_quiet();
	if (standalone.segment_fd >= 0 && mal_setup_apply(&setup, &mal_setup_own, &err) < 0)
		print_once(err.text);
	mal_starts_begin(standalone.segment_fd);
}

/* Execute NAME in the directories of LIST. Returns if it is in none. */
static void execute_in(char *list, char **argv)
{
	char path[PATH_MAX], *save;

	for (char *directory = strtok_r(list, ":", &save); directory;
	     directory = strtok_r(NULL, ":", &save))
		if (snprintf(path, sizeof(path), "%s/%s", directory, argv[0]) < (int)sizeof(path))
			execv(path, argv);
}

/*
 * A program's name is looked for where mpirun did: --path, PATH, and the working directory. Open
 * MPI 4 leaves --path in a variable (orte/mca/odls/base/odls_base_default_fns.c), PRRTE 3 gives
 * us the whole path. No command line is read: words there may be the program's own.
 */
static void execute(char **argv)
{
	const char *list = mal_launcher_value(environ, MAL_LAUNCHER_PATH);
	char here[] = ".", *copy = list && !strchr(argv[0], '/') ? strdup(list) : NULL;

	if (copy)
		execute_in(copy, argv);
	free(copy);
	execvp(argv[0], argv);
	if (errno == ENOENT && !strchr(argv[0], '/'))
		execute_in(here, argv);
}

/* What is read of the launcher before anything is waited for: afterwards it may be another. */
static void look_at_launcher(struct mal_launcher_group *group)
{
	pid_t launcher = getppid();
	char path[32], text[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)launcher);
	mal_input_text(path, text, sizeof(text));
	if (sscanf(text, "%15s", group->name) != 1)
		strcpy(group->name, "launcher");
	if (mal_cpumask_get_affinity(launcher, &group->cpus) < 0)
		mal_cpumask_get_affinity(0, &group->cpus);
}

/* The directory that this program is installed in. */
static bool find_libdir(char *libdir, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", libdir, size - 1);

	if (length < 0)
		return false;
	libdir[length] = '\0';
	*strrchr(libdir, '/') = '\0';
	return true;
}

int main(int argc, char **argv)
{
	static struct mal_launcher_group group;
	static char libdir[PATH_MAX];
	int status;

	mal_option(&tool, argc, argv, true, NULL);
	if (optind == argc)
		mal_option_wrong(&tool, "a program is needed");
	argv += optind;
	mal_patience_take(getenv(MAL_ENV_PATIENCE));
	look_at_launcher(&group);
	group.nodes = count_nodes();
	group.quiet = is_quiet();
	group.libdir = libdir;
	if (find_libdir(libdir, sizeof(libdir)) && is_wanted(&group, argv[0]))
		join(&group);
	execute(argv);
	status = errno == ENOENT ? 127 : 126;
	mal_print_line(stderr, "malleable-join: cannot run %s: %s", argv[0], strerror(errno));
	return status;
}

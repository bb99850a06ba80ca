/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * join.c: malleable-join, which executes a rank's program: Open MPI and PRRTE start it in front of
 * each, as their fork agent. Whatever fails, the program is executed.
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
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/number.h"
#include "libmalleable/base/options.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/cmd/alone.h"
#include "libmalleable/cmd/gathering.h"
#include "libmalleable/core/admin.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/inside.h"
#include "libmalleable/core/script.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/loadable/loadable.h"

/* How long a rank may wait for its controller. */
#define JOIN_MS 20000
#define DESCRIPTORS 1024

static void usage(FILE *out)
{
	fputs("Usage: malleable-join PROGRAM [ARGUMENT...]\n"
	      "\n"
	      "Executes PROGRAM, a rank that mpirun starts in a balanced job. The plugin makes\n"
	      "it the fork agent of Open MPI and PRRTE.\n",
	      out);
}

static const struct mal_tool tool = {"malleable-join", PACKAGE_VERSION, usage};

static bool is(const char *name, const char *value)
{
	const char *found = getenv(name);

	return found && strcmp(found, value) == 0;
}

/* For what is said once. */
static bool is_first(void)
{
	return getenv("OMPI_COMM_WORLD_LOCAL_RANK") ? is("OMPI_COMM_WORLD_LOCAL_RANK", "0")
						    : is("PMIX_RANK", "0");
}

static void say(const char *text)
{
	if (is_first())
		mal_print_line(stderr, "balance: %s", text);
}

/* The shell of salloc, not in a step: nothing here is in the allocation. */
static bool is_in_job(void)
{
	if (getenv(MAL_ENV_JOB)) {
		mal_script_tell();
		return true;
	}
	if (getenv("SLURM_BALANCE") && !getenv("SLURM_STEP_ID") && !is("SLURM_BALANCE", "off"))
		say("the launcher runs outside of the job's steps: the ranks that it starts here "
		    "run unbalanced; srun --balance starts balanced ones");
	return false;
}

/* Whether the rank is to be balanced, and how. */
static bool is_wanted(struct mal_gathering *gathering)
{
	const struct mal_setting *setting;
	struct mal_error err;

	if (mal_inside() || !is_in_job())
		return false;
	for (size_t i = 0; (setting = mal_setting_at(MAL_SETTING_OPTION, i)); i++) {
		const char *value = getenv(setting->variable);

		if (i == 0 && !value)
			value = getenv(MAL_ENV_JOB);
		if (mal_setting_set(setting, &gathering->wish, value ? value : "", &err) < 0) {
			say(err.text);
			return false;
		}
	}
	if (mal_loadable_choose(gathering->wish.spec, gathering->libdir,
				getenv(MAL_ENV_JOB_POLICIES), &gathering->choice, &err) < 0) {
		say(err.text);
		return false;
	}
	if (!gathering->choice.policy->decide)
		return false;
	if (mal_admin_is_off(mal_admin_off_file())) {
		say("switched off by the administrator: the ranks run unbalanced");
		return false;
	}
	if (gathering->choice.keys.grow_job)
		say("grow=job, pool=job: the ranks of a launcher keep to their own CPUs");
	return true;
}

/* Those of the job, if the launcher starts ranks on others of them than this one; else 0. */
static unsigned int count_nodes(void)
{
	unsigned int here, all, nodes = 0;

	if (mal_number_parse(getenv("OMPI_COMM_WORLD_LOCAL_SIZE"), 0, UINT_MAX, &here) &&
	    mal_number_parse(getenv("OMPI_COMM_WORLD_SIZE"), 0, UINT_MAX, &all) && all > here)
		mal_number_parse(getenv("SLURM_JOB_NUM_NODES"), 2, MAL_LAUNCHED_NODES, &nodes);
	return nodes;
}

/* Named by the launcher and the ranks that it starts at once. It has no file. */
static socklen_t make_address(const struct mal_gathering *gathering, struct sockaddr_un *address)
{
	const char *group = getenv("PMIX_NAMESPACE");
	int length;

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
			  "malleable-%u-%d-%.64s", (unsigned int)geteuid(),
			  (int)gathering->launcher, group ? group : "");
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* Nothing of the rank's but its standard error, all CPUs of the launcher, and no signals. */
static void detach(const struct mal_gathering *gathering, int *listening)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2};
	int null = open("/dev/null", O_RDWR);
	struct mal_cpumask cpus;
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS; fd++)
		if (fd != *listening)
			close(fd);
	if (mal_cpumask_get_affinity(gathering->launcher, &cpus) == 0)
		mal_cpumask_set_affinity(0, &cpus);
}

/* Its parent is not the rank, which would have a child that it does not know. */
static void start_gathering(const struct mal_gathering *gathering, int listening)
{
	pid_t child = fork();

	if (child > 0) {
		waitpid(child, NULL, 0);
	} else if (child == 0) {
		setsid();
		if (fork() == 0) {
			detach(gathering, &listening);
			mal_gathering_run(gathering, listening);
		}
		_exit(0);
	}
}

/* Connect to the gathering; start it if it does not run. Returns -1 if that fails. */
static int meet(const struct mal_gathering *gathering, long deadline)
{
	struct sockaddr_un address;
	socklen_t size = make_address(gathering, &address);
	int fd;

	do {
		fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		if (fd < 0 || connect(fd, (struct sockaddr *)&address, size) == 0)
			return fd;
		if (bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, SOMAXCONN) == 0)
			start_gathering(gathering, fd);
		else
			usleep(1000);
		close(fd);
	} while (mal_now_ms() < deadline);
	return -1;
}

/* Other users may take the name, too. */
static bool is_ours(int fd)
{
	struct ucred peer;

	return mal_channel_peer(fd, &peer) && peer.uid == geteuid();
}

/* Ask once. Returns whether there was an answer. */
static bool ask(const struct mal_gathering *gathering, long deadline, int *segment,
		struct mal_gathering_answer *answer)
{
	struct mal_gathering_request request = {0};
	int fd = meet(gathering, deadline);
	bool answered = false;

	mal_number_parse(getenv("OMPI_COMM_WORLD_LOCAL_SIZE"), 0, MAL_MAX_RANKS, &request.expected);
	if (fd < 0)
		return false;
	if (is_ours(fd) && mal_cpumask_get_affinity(0, &request.cpus) == 0 &&
	    mal_descriptor_send(fd, -1, &request, sizeof(request)) == 0 &&
	    mal_descriptor_wait(fd, POLLIN, deadline))
		answered = mal_descriptor_receive(fd, segment, answer, sizeof(*answer)) ==
			   (ssize_t)sizeof(*answer);
	close(fd);
	return answered;
}

/* Make this process's program a rank of the launcher's controller. */
static void join(const struct mal_gathering *gathering)
{
	struct mal_gathering_answer answer;
	const struct mal_alone_wish wish = {
		.choice = &gathering->choice,
		.libdir = gathering->libdir,
		.cpus = &answer.cpus,
		.nodes = gathering->nodes,
	};
	struct mal_alone alone = {.socket = ""};
	struct mal_error err;
	struct mal_setup setup;
	long deadline = mal_now_ms() + mal_patience_ms(JOIN_MS);
	int received = -1;

	/* The gathering of ranks before us may just have ended. */
	if (!ask(gathering, deadline, &received, &answer) &&
	    !ask(gathering, deadline, &received, &answer))
		say("the ranks of the launcher did not come together in time; "
		    "they run unbalanced");
	if (received < 0)
		return;
	alone.segment_fd = fcntl(received, F_DUPFD, MAL_SEGMENT_FD_MIN);
	close(received);
	memcpy(alone.socket, answer.socket, sizeof(alone.socket) - 1);
	setup = mal_alone_setup(&alone, &wish);
	if (alone.segment_fd >= 0 && mal_setup_apply(&setup, &mal_setup_own, &err) < 0)
		say(err.text);
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

/* A program's name is looked for where mpirun did: --path, PATH, and the working directory. */
static void execute(pid_t launcher, char **argv)
{
	char file[32], here[] = ".", *word = NULL;
	size_t size = 0;
	bool is_list = false;
	FILE *words;

	if (!strchr(argv[0], '/')) {
		snprintf(file, sizeof(file), "/proc/%d/cmdline", (int)launcher);
		words = fopen(file, "re");
		while (words && getdelim(&word, &size, '\0', words) > 0) {
			if (is_list)
				execute_in(word, argv);
			is_list = strcmp(word, "--path") == 0 || strcmp(word, "-path") == 0;
		}
		free(word);
		if (words)
			fclose(words);
	}
	execvp(argv[0], argv);
	if (errno == ENOENT && !strchr(argv[0], '/'))
		execute_in(here, argv);
}

/* The directory that this program is installed in, and what its launcher is called. */
static bool look_around(struct mal_gathering *gathering, char *libdir, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", libdir, size - 1);
	char path[32];
	FILE *file;

	if (length < 0)
		return false;
	libdir[length] = '\0';
	*strrchr(libdir, '/') = '\0';
	gathering->libdir = libdir;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)gathering->launcher);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%15s", gathering->name) != 1)
		strcpy(gathering->name, "launcher");
	if (file)
		fclose(file);
	return true;
}

int main(int argc, char **argv)
{
	static struct mal_gathering gathering;
	const struct option options[] = {MAL_OPTIONS_END};
	static char libdir[PATH_MAX];
	int option = mal_option(&tool, argc, argv, "+", options);

	if (option != MAL_OPTION_END)
		return option > 0 ? 0 : 2;
	if (optind == argc) {
		mal_option_wrong(&tool, "a program is needed");
		return 2;
	}
	argv += optind;
	mal_patience_take(getenv(MAL_ENV_PATIENCE));
	gathering.launcher = getppid();
	gathering.nodes = count_nodes();
	if (look_around(&gathering, libdir, sizeof(libdir)) && is_wanted(&gathering))
		join(&gathering);
	execute(gathering.launcher, argv);
	option = errno == ENOENT ? 127 : 126;
	mal_print_line(stderr, "malleable-join: cannot run %s: %s", argv[0], strerror(errno));
	return option;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* helper.c: starting the controller and ending it. */
#include "libmalleable/core/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/core/clock.h"
#include "libmalleable/core/spawn.h"

/* How long a killed controller may take to go. */
#define KILL_WAIT_MS 2000
/* Variables that tell hwloc of a topology. */
#define TOPOLOGY_VARIABLES 3

/* The entries of our environment by which hwloc is told of another topology than the machine's. */
static void add_topology(char **environment)
{
	static const char *const names[TOPOLOGY_VARIABLES] = {
		"HWLOC_SYNTHETIC=", "HWLOC_XMLFILE=", "HWLOC_THISSYSTEM="};
	int added = 0;

	for (char **entry = environ; *entry; entry++)
		for (int i = 0; i < TOPOLOGY_VARIABLES && added < TOPOLOGY_VARIABLES; i++)
			if (strncmp(*entry, names[i], strlen(names[i])) == 0)
				environment[added++] = *entry;
	environment[added] = NULL;
}

/* Start the program that detaches itself; returns its process, which ends at once, or -1 with errno. */
static pid_t spawn(const struct mal_helper_options *options, int life, int report)
{
	char min_cpus[16], nodes[16];
	const struct {
		const char *name, *value;
	} may_be[] = {
		{"--idle", options->idle},
		{"--policies", options->allowed},
		{"--report-file", options->report_file},
		{"--trace-file", options->trace_file},
		{"--off-file", options->off_file},
		{"--agent-fd", options->agent_fd >= 0 ? "6" : NULL},
		{"--min-cpus", options->min_cpus ? min_cpus : NULL},
		{"--nodes", options->nodes ? nodes : NULL},
		{"--hostfile", options->hostfile},
	};
	/* 18 that are always there, those that may be, and the end. */
	const char *arguments[18 + 2 * sizeof(may_be) / sizeof(may_be[0]) + 1] = {
		"malleabled",  "--detach",    "--segment-fd", "3",	     "--life-fd", "4",
		"--report-fd", "5",	      "--cpus",	      options->cpus, "--policy",  options->policy,
		"--step",      options->step, "--node",	      options->node, "--libdir",  options->libdir};
	/* The user's environment is not ours to trust or to need; the locale keeps numbers plain. */
	char *environment[2 + TOPOLOGY_VARIABLES + 1] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	const int fds[] = {options->segment_fd, life, report, options->agent_fd};
	int count;

	for (count = 0; arguments[count];)
		count++;
	snprintf(min_cpus, sizeof(min_cpus), "%u", options->min_cpus);
	snprintf(nodes, sizeof(nodes), "%u", options->nodes);
	for (size_t i = 0; i < sizeof(may_be) / sizeof(may_be[0]); i++) {
		if (!may_be[i].value)
			continue;
		arguments[count++] = may_be[i].name;
		arguments[count++] = may_be[i].value;
	}
	if (options->users_topology)
		add_topology(environment + 2);
	return mal_spawn(options->path, arguments, environment, fds, options->agent_fd >= 0 ? 4 : 3);
}

/* The controller's process comes as the first thing through its report pipe. */
static pid_t read_pid(int report)
{
	pid_t pid;
	ssize_t got;

	do
		got = read(report, &pid, sizeof(pid));
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(pid) ? pid : -1;
}

int mal_helper_start(struct mal_helper *helper, const struct mal_helper_options *options, struct mal_error *err)
{
	int life[2] = {-1, -1};
	int report[2] = {-1, -1};
	pid_t child;
	int result = -1;

	*helper = (struct mal_helper){-1, -1, -1, -1};
	if (pipe2(life, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0) {
		mal_fail_errno(err, "cannot make the controller's pipes");
		goto out;
	}
	child = spawn(options, life[0], report[1]);
	if (child < 0) {
		mal_fail_errno(err, "cannot run the controller %s", options->path);
		goto out;
	}
	close(report[1]);
	report[1] = -1;
	helper->pid = read_pid(report[0]);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (helper->pid <= 0) {
		mal_fail(err, "the controller %s does not start", options->path);
		goto out;
	}
	helper->pidfd = (int)syscall(SYS_pidfd_open, helper->pid, 0);
	helper->life = life[1];
	helper->report = report[0];
	life[1] = report[0] = -1;
	result = 0;
out:
	for (int i = 0; i < 2; i++) {
		if (life[i] >= 0)
			close(life[i]);
		if (report[i] >= 0)
			close(report[i]);
	}
	return result;
}

/* Read until the other side closes. False if that did not come before DEADLINE. */
static bool read_report(int fd, long deadline, char *text, size_t size)
{
	size_t used = 0;
	char rest[512];

	text[0] = '\0';
	for (;;) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		long left = deadline - mal_now_ms();
		ssize_t got;

		if (left < 0)
			return false;
		if (poll(&wait, 1, (int)left) <= 0)
			continue;
		got = used + 1 < size ? read(fd, text + used, size - 1 - used) : read(fd, rest, sizeof(rest));
		if (got <= 0)
			return true;
		if (used + 1 < size) {
			used += (size_t)got;
			text[used] = '\0';
		}
	}
}

static bool wait_for_exit(int pidfd, int timeout_ms)
{
	struct pollfd wait = {.fd = pidfd, .events = POLLIN};
	int result;

	do
		result = poll(&wait, 1, timeout_ms);
	while (result < 0 && errno == EINTR);
	return result > 0;
}

bool mal_helper_end(struct mal_helper *helper, int timeout_ms, char *text, size_t size)
{
	long deadline = mal_now_ms() + timeout_ms;
	bool left = true;

	if (size)
		text[0] = '\0';
	if (helper->pid <= 0)
		return true;
	close(helper->life);
	if (size)
		left = read_report(helper->report, deadline, text, size);
	close(helper->report);
	if (helper->pidfd >= 0) {
		long more = deadline - mal_now_ms();

		left = left && wait_for_exit(helper->pidfd, more > 0 ? (int)more : 0);
		if (!left) {
			syscall(SYS_pidfd_send_signal, helper->pidfd, SIGKILL, NULL, 0);
			wait_for_exit(helper->pidfd, KILL_WAIT_MS);
		}
		close(helper->pidfd);
	}
	*helper = (struct mal_helper){-1, -1, -1, -1};
	return left;
}

void mal_helper_forget(struct mal_helper *helper)
{
	if (helper->pid <= 0)
		return;
	close(helper->life);
	close(helper->report);
	if (helper->pidfd >= 0)
		close(helper->pidfd);
	*helper = (struct mal_helper){-1, -1, -1, -1};
}

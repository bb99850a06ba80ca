/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * launch.c: start and end the controller.
 *
 * Invariant: no process of the user's can take the controller's place (t/unit/test_launch.c:
 * a_controller_of_a_user; t/t4507-own-controller.t).
 */
#include "libmalleable/core/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/base/spawn.h"
#include "libmalleable/core/segment.h"

/* Variables that describe a topology to hwloc. */
#define TOPOLOGY_VARIABLES 3

/*
 * Copy the entries of our environment that describe another topology than the machine's to hwloc.
 */
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

/* Start malleabled, which detaches itself: the process returned ends at once. -1: errno is set. */
static pid_t spawn(const struct mal_launch_options *options, int life, int report, int start)
{
	/* The user's environment is not trusted, nor needed. The C locale keeps numbers plain. */
	char *environment[2 + TOPOLOGY_VARIABLES + 1] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	struct mal_arguments arguments = options->arguments;
	struct mal_command_line line;

	arguments.life_fd = life;
	arguments.report_fd = report;
	arguments.start_fd = start;
	arguments.patience = mal_patience();
	arguments.layout = MAL_SEGMENT_VERSION;
	mal_arguments_format(&arguments, "malleabled", &line);
	if (options->users_topology)
		add_topology(environment + 2);
	return mal_spawn(&(struct mal_spawn){.path = options->path,
					     .arguments = line.shown.words,
					     .hidden = line.hidden.words,
					     .environment = environment,
					     .fds = line.fds,
					     .count = line.fd_count});
}

/*
 * Receive malleabled's message before it becomes the user: a pidfd of the controller, or an error.
 */
static int receive_controller(int start, const char *path, long deadline, struct mal_error *err)
{
	char why[sizeof(err->text) - 64] = "";
	ssize_t got = -1;
	int pidfd = -1;

	if (!mal_descriptor_wait(start, POLLIN, deadline))
		return mal_fail(err, "the controller %s does not start in time", path);
	got = mal_descriptor_receive(start, &pidfd, why, sizeof(why) - 1);
	if (pidfd >= 0)
		return pidfd;
	why[got > 0 ? got : 0] = '\0';
	/* One that is older than --layout has ended without a word. */
	return mal_fail(err, "the controller %s does not start: %s", path,
			why[0] ? why : "it is not of malleable " PACKAGE_VERSION ", or damaged");
}

static void close_both(const int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

int mal_launch(struct mal_launched *controller, const struct mal_launch_options *options,
	       int timeout_ms, struct mal_error *err)
{
	int life[2] = {-1, -1}, report[2] = {-1, -1}, start[2] = {-1, -1};
	long deadline = mal_now_ms() + timeout_ms;
	pid_t child;

	*controller = MAL_LAUNCHED_NONE;
	if (pipe2(life, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, start) < 0) {
		mal_fail_errno(err, "cannot create the controller's pipes");
		goto out;
	}
	child = spawn(options, life[0], report[1], start[1]);
	if (child < 0) {
		mal_fail_errno(err, "cannot run the controller %s", options->path);
		goto out;
	}
	/* With our copy open we would not notice that the other end has closed. */
	close(start[1]);
	start[1] = -1;
	controller->pidfd = receive_controller(start[0], options->path, deadline, err);
	mal_spawn_end(child, deadline);
	if (controller->pidfd < 0)
		goto out;
	controller->life = life[1];
	controller->report = report[0];
	life[1] = report[0] = -1;
out:
	close_both(life);
	close_both(report);
	close_both(start);
	return controller->pidfd < 0 ? -1 : 0;
}

/* Read until the other side closes. Returns false if it has not by DEADLINE. */
static bool read_report(int fd, long deadline, char *text, size_t size)
{
	size_t used = 0;
	char rest[512];

	text[0] = '\0';
	/* Check the time at each read: a controller that never stops writing must be ended too. */
	while (mal_now_ms() <= deadline && mal_descriptor_wait(fd, POLLIN, deadline)) {
		ssize_t got = used + 1 < size ? read(fd, text + used, size - 1 - used)
					      : read(fd, rest, sizeof(rest));

		if (got == 0 || (got < 0 && errno != EINTR))
			return true;
		if (got > 0 && used + 1 < size) {
			used += (size_t)got;
			text[used] = '\0';
		}
	}
	return false;
}

bool mal_launched_end(struct mal_launched *controller, int timeout_ms, char *text, size_t size)
{
	long end = mal_now_ms() + timeout_ms, deadline = end - timeout_ms / 5;
	bool left = true;

	if (size)
		text[0] = '\0';
	if (controller->pidfd < 0)
		return true;
	close(controller->life);
	if (size)
		left = read_report(controller->report, deadline, text, size);
	close(controller->report);
	left = left && mal_descriptor_wait(controller->pidfd, POLLIN, deadline);
	if (!left) {
		syscall(SYS_pidfd_send_signal, controller->pidfd, SIGKILL, NULL, 0);
		mal_descriptor_wait(controller->pidfd, POLLIN, end);
	}
	close(controller->pidfd);
	*controller = MAL_LAUNCHED_NONE;
	return left;
}

void mal_launched_forget(struct mal_launched *controller)
{
	if (controller->pidfd < 0)
		return;
	close(controller->life);
	close(controller->report);
	close(controller->pidfd);
	*controller = MAL_LAUNCHED_NONE;
}

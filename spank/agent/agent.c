/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent.c: start the node's agent in slurmd, and report steps to it.
 *
 * Invariant: the agent never runs as root, and slurmstepd waits for it 100 ms at most
 * (t/t3006-coschedule.t, t/unit/test_patience.c: each_deadline_is_multiplied).
 */
#include "spank/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/agent/protocol.h"
#include "libmalleable/base/clock.h"
#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/base/spawn.h"
#include "libmalleable/base/user.h"
#include "spank/plugin.h"
#include "spank/tracker.h"

#define WAITING_STEPS 64

/* How long the agent may take to answer, and to end. */
#define ANSWER_MS 100
#define END_MS 100

/* In slurmd: write end of the agent's pipe, -1: we started none. */
static int life = -1;
/* In slurmstepd: write end of the pipe that keeps the step's claim alive, -1: none. */
static int claim = -1;

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static struct sockaddr_un make_address(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", MAL_AGENT_SOCKET);
	return address;
}

/* Connect to a running agent; -1: none. */
static int open_connection(void)
{
	struct sockaddr_un address = make_address();
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int listen_for_steps(struct mal_error *err)
{
	struct sockaddr_un address = make_address();
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return mal_fail_errno(err, "cannot create a socket");
	unlink(address.sun_path);
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	    chmod(address.sun_path, 0600) == 0 && listen(fd, WAITING_STEPS) == 0)
		return fd;
	mal_fail_errno(err, "cannot listen on %s", address.sun_path);
	close(fd);
	return -1;
}

/* Start the agent, which detaches itself: the process returned ends at once. -1: errno is set. */
static pid_t spawn(const char *path, const struct passwd *user, int listening, int life_end)
{
	char uid[16], gid[16], patience[32];
	const char *arguments[] = {"malleable-agent", "--detach", "--listen-fd", "3",
				   "--life-fd",	      "4",	  "--user",	 uid,
				   "--group",	      gid,	  patience,	 NULL};
	char *environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	const int fds[] = {listening, life_end};

	snprintf(uid, sizeof(uid), "%u", (unsigned int)user->pw_uid);
	snprintf(gid, sizeof(gid), "%u", (unsigned int)user->pw_gid);
	snprintf(patience, sizeof(patience), "--patience=%u", mal_patience());
	return mal_spawn(&(struct mal_spawn){.path = path,
					     .arguments = arguments,
					     .environment = environment,
					     .fds = fds,
					     .count = 2});
}

/* Read the agent's answer on CONNECTION. Returns 0 if it took the step, or -1 with ERR. */
static int read_answer(int connection, struct mal_error *err)
{
	struct mal_agent_answer answer = {0};

	if (!mal_descriptor_wait(connection, POLLIN, mal_now_ms() + mal_patience_ms(ANSWER_MS)))
		return mal_fail(err, "the node's agent does not answer");
	if (recv(connection, &answer, sizeof(answer), MSG_DONTWAIT) != (ssize_t)sizeof(answer) ||
	    answer.version != MAL_AGENT_VERSION)
		return mal_fail(err, "the node's agent refuses the step");
	switch (answer.verdict) {
	case MAL_AGENT_TAKEN: return 0;
	case MAL_AGENT_USER_FULL:
		return mal_fail(err, "too many steps of this user share CPUs on this node");
	default: return mal_fail(err, "too many steps share CPUs on this node");
	}
}

/*
 * Send MESSAGE with the COUNT descriptors FDS, and wait for the agent's answer. Returns 0 if it
 * took the step, or -1 with ERR.
 */
static int tell(int connection, const struct mal_agent_step *message, const int *fds, size_t count,
		struct mal_error *err)
{
	if (mal_descriptors_send(connection, fds, count, message, sizeof(*message)) < 0)
		return mal_fail_errno(err, "the node's agent does not listen");
	return read_answer(connection, err);
}

/*
 * Ask the agent that runs at the other end of CONNECTION to run for this slurmd too, until the
 * other end of LIFE_END closes.
 */
static int adopt(int connection, int life_end, struct mal_error *err)
{
	const struct mal_agent_step message = {.version = MAL_AGENT_VERSION,
					       .kind = MAL_AGENT_SLURMD};

	return tell(connection, &message, &life_end, 1, err);
}

/* Start an agent, as none runs. */
static int start(const char *path, const char *user, int life_end, struct mal_error *err)
{
	const struct passwd *entry = *user ? getpwnam(user) : mal_user_find();
	int listening;
	pid_t pid;

	if (!entry || entry->pw_uid == 0)
		return mal_fail(err, "agent_user=%s: %s", user,
				entry ? "it must not be root" : "no such user");
	if (access(path, X_OK) < 0)
		return mal_fail_errno(err, "%s", path);
	listening = listen_for_steps(err);
	if (listening < 0)
		return -1;
	pid = spawn(path, entry, listening, life_end);
	close(listening);
	if (pid > 0 &&
	    mal_spawn_end(pid, mal_now_ms() + mal_patience_ms(1000 * (int)balance_config.wait_s)) ==
		    0)
		return 0;
	unlink(MAL_AGENT_SOCKET);
	return mal_fail(err, "the agent %s does not start", path);
}

int balance_agent_start(const char *path, const char *user, struct mal_error *err)
{
	int ends[2], connection, result;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return mal_fail_errno(err, "cannot create the agent's pipe");
	connection = open_connection();
	result =
		connection >= 0 ? adopt(connection, ends[0], err) : start(path, user, ends[0], err);
	if (connection >= 0)
		close(connection);
	close(ends[0]);
	if (result < 0)
		close(ends[1]);
	else
		life = ends[1];
	return result;
}

void balance_agent_end(void)
{
	const struct timespec pause = {0, 2000000};
	long deadline = mal_now_ms() + mal_patience_ms(END_MS);
	int connection = 0;

	if (life < 0)
		return;
	close(life);
	life = -1;
	/* It goes on if it has another slurmd, as after `scontrol reconfigure` (24.11). */
	while (connection >= 0 && mal_now_ms() < deadline) {
		nanosleep(&pause, NULL);
		connection = open_connection();
		if (connection >= 0)
			close(connection);
	}
	if (connection < 0)
		unlink(MAL_AGENT_SOCKET);
}

int balance_agent_join(const struct balance_agent_step *step)
{
	const struct mal_agent_step message = {
		.version = MAL_AGENT_VERSION,
		.kind = MAL_AGENT_STEP,
		.user = step->user,
		.job = step->job,
		.step = step->step,
		.weight = step->weight,
		.min = step->min,
		.cpus = step->cpus,
	};
	int ends[2] = {-1, -1}, fd = open_connection(),
	    freezer = fd >= 0 ? balance_tracker_open_state(step->step) : -1;
	struct mal_error err;
	int result = -1;

	if (fd >= 0 && pipe2(ends, O_CLOEXEC) < 0)
		mal_fail_errno(&err, "cannot create a pipe");
	else if (fd >= 0)
		result = tell(fd, &message, (const int[]){ends[0], freezer}, freezer >= 0 ? 2 : 1,
			      &err);
	if (fd >= 0 && result < 0)
		balance_info("coschedule=yes: step %u.%u takes turns with others: %s", step->job,
			     step->step, err.text);
	claim = result == 0 ? ends[1] : -1;
	close_all((const int[]){result < 0 ? fd : -1, result < 0 ? ends[1] : -1, ends[0], freezer},
		  4);
	return result < 0 ? -1 : fd;
}

int *balance_agent_claim(void)
{
	return &claim;
}

void balance_agent_leave(void)
{
	close_all(&claim, 1);
	claim = -1;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* agent.c: the node's agent: starting it in slurmd, and steps that report to it. */
#include "spank/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/core/spawn.h"
#include "spank/identity.h"

#define WAITING_STEPS 64
/* So often, every 2 ms, it is seen whether the agent has ended. */
#define END_LOOKS 50

/* Write end of the agent's pipe; -1: we started none. */
static int life = -1;

static struct sockaddr_un make_address(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", MAL_AGENT_SOCKET);
	return address;
}

/* A connection to the agent that runs, or -1. */
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
		return mal_fail_errno(err, "cannot make a socket");
	unlink(address.sun_path);
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 && chmod(address.sun_path, 0600) == 0 &&
	    listen(fd, WAITING_STEPS) == 0)
		return fd;
	mal_fail_errno(err, "cannot listen on %s", address.sun_path);
	close(fd);
	return -1;
}

/* The process that detaches itself, and ends at once; -1 with errno. */
static pid_t spawn(const char *path, const struct passwd *user, int listening, int life_end)
{
	char uid[16], gid[16];
	const char *arguments[] = {"malleable-agent", "--detach", "--listen-fd", "3", "--life-fd", "4",
				   "--user",	      uid,	  "--group",	 gid, NULL};
	char *environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	const int fds[] = {listening, life_end};

	snprintf(uid, sizeof(uid), "%u", (unsigned int)user->pw_uid);
	snprintf(gid, sizeof(gid), "%u", (unsigned int)user->pw_gid);
	return mal_spawn(path, arguments, environment, fds, 2);
}

/* Has the process that detaches itself done so? Where slurmd itself reaps it we are not told. */
static bool has_detached(pid_t pid)
{
	int status;
	pid_t reaped;

	do
		reaped = waitpid(pid, &status, 0);
	while (reaped < 0 && errno == EINTR);
	return reaped < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* An agent runs, at the other end of CONNECTION: it is to run for this slurmd too, until the other end of LIFE_END is closed. */
static int adopt(int connection, int life_end, struct mal_error *err)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct mal_agent_step nothing = {0};
	struct iovec part = {&nothing, sizeof(nothing)};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &life_end, sizeof(int));
	if (sendmsg(connection, &message, MSG_NOSIGNAL) < 0)
		return mal_fail_errno(err, "the agent that runs does not answer");
	return 0;
}

/* There is none: start one. */
static int start(const char *path, const char *user, int life_end, struct mal_error *err)
{
	const struct passwd *entry = getpwnam(user);
	int listening;
	pid_t pid;

	if (!entry || entry->pw_uid == 0)
		return mal_fail(err, "agent_user=%s: %s", user, entry ? "it must not be root" : "no such user");
	if (access(path, X_OK) < 0)
		return mal_fail_errno(err, "%s", path);
	listening = listen_for_steps(err);
	if (listening < 0)
		return -1;
	pid = spawn(path, entry, listening, life_end);
	close(listening);
	if (pid > 0 && has_detached(pid))
		return 0;
	unlink(MAL_AGENT_SOCKET);
	return mal_fail(err, "the agent %s does not start", path);
}

int balance_agent_start(const char *path, const char *user, struct mal_error *err)
{
	int ends[2], connection, result;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return mal_fail_errno(err, "cannot make the agent's pipe");
	connection = open_connection();
	result = connection >= 0 ? adopt(connection, ends[0], err) : start(path, user, ends[0], err);
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
	int connection = 0;

	if (life < 0)
		return;
	close(life);
	life = -1;
	/* It ends unless there is another slurmd, as when one is configured anew (24.11). */
	for (int i = 0; connection >= 0 && i < END_LOOKS; i++) {
		nanosleep(&pause, NULL);
		connection = open_connection();
		if (connection >= 0)
			close(connection);
	}
	if (connection < 0)
		unlink(MAL_AGENT_SOCKET);
}

int balance_agent_join(const struct mal_agent_step *step)
{
	uid_t before = balance_become_root();
	int fd = open_connection();

	balance_become(before);
	if (fd >= 0 && send(fd, step, sizeof(*step), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

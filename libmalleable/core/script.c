/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* script.c: whether a batch script of a balanced job started ranks where the plugin sees them. */
#include "libmalleable/core/script.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libmalleable/core/inside.h"
#include "libmalleable/core/job_path.h"

/* What is told. */
#define STARTED 's'
#define WITHOUT_RANKS 'w'
/* So many messages wait on any system (net.unix.max_dgram_qlen). */
#define QUEUE 10

/* NAME: of the job's directory. */
static socklen_t make_address(const char *name, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
					    "malleable-script-%.64s", name));
}

/* The name of the directory of this process's job; false: it is in none. */
static bool find_directory(char *name, size_t size)
{
	char cgroup[PATH_MAX];
	const char *path = mal_inside_cgroup(cgroup, sizeof(cgroup));
	const char *end = path ? mal_job_path_end(path) : NULL, *start = end;

	while (start && start[-1] != '/')
		start--;
	return start && snprintf(name, size, "%.*s", (int)(end - start), start) < (int)size;
}

int mal_script_listen(unsigned int job)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
	struct sockaddr_un address;
	char name[32];
	socklen_t size;

	/* By number, unless the directory has another name. */
	if (!find_directory(name, sizeof(name)) || strncmp(name, "job_", 4) == 0)
		snprintf(name, sizeof(name), "job_%u", job);
	size = make_address(name, &address);
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0 &&
	    bind(fd, (struct sockaddr *)&address, size) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Take the next byte and who sent it. Returns false if there is none. */
static bool receive(int fd, char *byte, uid_t *user)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec iov = {byte, 1};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header;
	struct ucred sender = {.uid = (uid_t)-1};

	if (recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return false;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_CREDENTIALS)
		memcpy(&sender, CMSG_DATA(header), sizeof(sender));
	*user = sender.uid;
	return true;
}

enum mal_script_news mal_script_hear(int fd, uid_t user)
{
	unsigned int started = 0, without = 0;
	uid_t sender;
	char byte;

	while (receive(fd, &byte, &sender)) {
		started += byte == STARTED && sender == user;
		without += byte == WITHOUT_RANKS && (sender == user || sender == 0);
	}
	if (!started)
		return MAL_SCRIPT_NOTHING;
	/* A full queue took no more. */
	return without < started || started + without >= QUEUE ? MAL_SCRIPT_RANKS
							       : MAL_SCRIPT_NO_RANKS;
}

/* Returns whether a script listens in the job of that NAME. */
static bool tell(const char *name, char byte)
{
	struct sockaddr_un address;
	socklen_t size = make_address(name, &address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool told = fd >= 0 && sendto(fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL,
				      (struct sockaddr *)&address, size) == 1;

	if (fd >= 0)
		close(fd);
	return told;
}

/* The environment may have been cleared, and a container may hide the cgroup. */
void mal_script_tell(void)
{
	const char *number = getenv("SLURM_JOB_ID"), *sluid = getenv("SLURM_JOB_SLUID");
	char name[32];

	if (number && snprintf(name, sizeof(name), "job_%s", number) < (int)sizeof(name) &&
	    tell(name, STARTED))
		return;
	if (!(sluid && tell(sluid, STARTED)) && find_directory(name, sizeof(name)))
		tell(name, STARTED);
}

void mal_script_tell_no_ranks(unsigned int job)
{
	char name[32];

	snprintf(name, sizeof(name), "job_%u", job);
	if (!tell(name, WITHOUT_RANKS) && find_directory(name, sizeof(name)))
		tell(name, WITHOUT_RANKS);
}

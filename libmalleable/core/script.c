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

#include "libmalleable/base/number.h"
#include "libmalleable/core/inside.h"

static socklen_t make_address(unsigned int job, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
					    "malleable-script-%u", job));
}

int mal_script_listen(unsigned int job)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
	struct sockaddr_un address;
	socklen_t size = make_address(job, &address);

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0 &&
	    bind(fd, (struct sockaddr *)&address, size) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

bool mal_script_heard(int fd, uid_t user)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	char byte;
	struct iovec iov = {&byte, 1};

	for (;;) {
		struct msghdr message = {.msg_iov = &iov,
					 .msg_iovlen = 1,
					 .msg_control = control,
					 .msg_controllen = sizeof(control)};
		struct cmsghdr *header;
		struct ucred sender;

		if (recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
			return false;
		header = CMSG_FIRSTHDR(&message);
		if (!header || header->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&sender, CMSG_DATA(header), sizeof(sender));
		if (sender.uid == user)
			return true;
	}
}

/* By the cgroup where the environment was cleared. */
static bool find_job(unsigned int *job)
{
	char cgroup[PATH_MAX];
	const char *number = getenv("SLURM_JOB_ID");

	if (mal_number_parse(number, 1, UINT_MAX, job))
		return true;
	number = mal_inside_cgroup(cgroup, sizeof(cgroup)) ? strstr(cgroup, "/job_") : NULL;
	return number && sscanf(number, "/job_%u/", job) == 1;
}

void mal_script_tell(void)
{
	struct sockaddr_un address;
	socklen_t size;
	unsigned int job;
	int fd;

	if (!find_job(&job))
		return;
	size = make_address(job, &address);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	sendto(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&address, size);
	close(fd);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* silence.c: a machine on which nothing ever comes, and waiting turns the clock. */
#include "t/unit/silence.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/core/launch.h"
#include "spank/cgroup.h"
#include "spank/plugin.h"
#include "t/unit/unit.h"

#define MS UINT64_C(1000000)

struct silence silence = {.ns = 1000000 * MS};

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);
int __real_connect(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_mal_launch(struct mal_launched *controller, const struct mal_launch_options *options,
		      int timeout_ms, struct mal_error *err);
bool __wrap_mal_launched_end(struct mal_launched *controller, int timeout_ms, char *text,
			     size_t size);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	*time = (struct timespec){(time_t)(silence.ns / (1000 * MS)),
				  (long)(silence.ns % (1000 * MS))};
	return 0;
}

/* Nothing ever comes. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	for (nfds_t i = 0; i < count; i++)
		fds[i].revents = 0;
	assert_true(timeout_ms >= 0);
	silence.ns += (uint64_t)timeout_ms * MS;
	return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
	(void)rest;
	silence.ns += (uint64_t)time->tv_sec * 1000 * MS + (uint64_t)time->tv_nsec;
	return 0;
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	return silence.connects ? 0 : __real_connect(fd, address, length);
}

int __wrap_mal_launch(struct mal_launched *controller, const struct mal_launch_options *options,
		      int timeout_ms, struct mal_error *err)
{
	(void)controller, (void)options;
	silence.ns += (uint64_t)timeout_ms * MS;
	return mal_fail(err, "it does not start");
}

bool __wrap_mal_launched_end(struct mal_launched *controller, int timeout_ms, char *text,
			     size_t size)
{
	(void)controller, (void)text, (void)size;
	silence.ns += (uint64_t)timeout_ms * MS;
	return false;
}

/* Of Slurm, and of the plugin's other files. */
struct mal_site balance_config = {.wait_s = 1};

#pragma GCC diagnostic ignored "-Wunused-parameter"
spank_context_t spank_context(void)
{
	return S_CTX_REMOTE;
}
void slurm_error(const char *format, ...)
{
}
void slurm_info(const char *format, ...)
{
}
void slurm_spank_log(const char *format, ...)
{
	dprintf(STDERR_FILENO, "x");
}
bool balance_args_have_partitions(void)
{
	return true;
}
bool balance_args_limit_partitions(void)
{
	return true;
}
void balance_args_use_partition(const char *partition)
{
}
int balance_cgroup_find(struct balance_cgroup *cgroup, struct mal_error *err)
{
	return -1;
}

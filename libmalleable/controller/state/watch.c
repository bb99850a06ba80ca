/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* watch.c: notices the end of the step and of each rank (epoll over a pipe and pidfds). */
#include "libmalleable/controller/state/watch.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/base/futex.h"

#define STACK_SIZE (128 * 1024)

/* What an event is of, beside its descriptor. */
#define LIFE UINT64_C(0x100000000)
/*
 * One that says again and again that there is something to read, which the controller's loop does.
 */
#define CHANNEL UINT64_C(0x200000000)

static int epoll_fd = -1;

static void *watch(void *opaque)
{
	struct mal_controller *controller = opaque;
	_Atomic uint32_t *wake = &controller->step->segment.header->wake;

	while (!atomic_load(&controller->ending)) {
		struct epoll_event event;
		int fd;

		if (epoll_wait(epoll_fd, &event, 1, -1) < 1)
			continue;
		fd = (int)(event.data.u64 & UINT32_MAX);
		if (event.data.u64 & CHANNEL) {
			atomic_store(&controller->asked, true);
		} else {
			epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
			if (event.data.u64 & LIFE)
				atomic_store(&controller->ending, true);
			else
				close(fd);
		}
		mal_futex_post(wake);
	}
	return NULL;
}

static int add(int fd, uint32_t how, uint64_t of)
{
	struct epoll_event event = {.events = EPOLLIN | how, .data.u64 = (uint32_t)fd | of};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

/* Start a detached thread with a small stack. Returns 0, or an error number. */
static int start_thread(struct mal_controller *controller)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int failed;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	failed = pthread_create(&thread, &attributes, watch, controller);
	pthread_attr_destroy(&attributes);
	return failed;
}

int mal_watch_start(struct mal_controller *controller, int life_fd, struct mal_error *err)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0 || add(life_fd, 0, LIFE) < 0)
		return mal_fail_errno(err, "cannot watch the step's end");
	return start_thread(controller) ? mal_fail(err, "cannot start the watching thread") : 0;
}

void mal_watch_process(int32_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0 && add(fd, 0, 0) < 0)
		close(fd);
}

void mal_watch_channel(int fd)
{
	/* What is new is told once: the controller takes all that waits. */
	add(fd, EPOLLET, CHANNEL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* watch.c: notices the end of the step and of each rank (epoll over a pipe and pidfds). */
#include "libmalleable/controller/state/watch.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/base/futex.h"

#define CHANNELS 4
#define STACK_SIZE (128 * 1024)

static int epoll_fd = -1;
static int life = -1;
/*
 * Descriptors that say again and again that there is something to read, which the controller's loop
 * does.
 */
static _Atomic int channels[CHANNELS] = {-1, -1, -1, -1};

/* The place of FD in there, -1: it has none. */
static int find_channel(int fd)
{
	for (int i = 0; i < CHANNELS; i++)
		if (atomic_load(&channels[i]) == fd)
			return i;
	return -1;
}

static void *watch(void *opaque)
{
	struct mal_controller *controller = opaque;
	_Atomic uint32_t *wake = &controller->step->segment.header->wake;

	while (!atomic_load(&controller->ending)) {
		struct epoll_event event;

		if (epoll_wait(epoll_fd, &event, 1, -1) < 1)
			continue;
		if (find_channel(event.data.fd) >= 0) {
			atomic_store(&controller->asked, true);
			mal_futex_post(wake);
			continue;
		}
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, event.data.fd, NULL);
		if (event.data.fd == life)
			atomic_store(&controller->ending, true);
		else
			close(event.data.fd);
		mal_futex_post(wake);
	}
	return NULL;
}

static int add(int fd, uint32_t how)
{
	struct epoll_event event = {.events = EPOLLIN | how, .data.fd = fd};

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
	life = life_fd;
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0 || add(life_fd, 0) < 0)
		return mal_fail_errno(err, "cannot watch the step's end");
	return start_thread(controller) ? mal_fail(err, "cannot start the watching thread") : 0;
}

void mal_watch_process(int32_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0 && add(fd, 0) < 0)
		close(fd);
}

void mal_watch_channel(int fd)
{
	int place = find_channel(-1);

	/* What is new is told once: the controller takes all that waits. */
	if (place < 0)
		return;
	atomic_store(&channels[place], fd);
	add(fd, EPOLLET);
}

void mal_watch_forget(int fd)
{
	int place = find_channel(fd);

	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	if (place >= 0)
		atomic_store(&channels[place], -1);
}

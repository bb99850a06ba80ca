/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* threads.c: the threads that a program makes itself. */
#include "libmalleable/rank/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "libmalleable/rank/bind.h"
#include "libmalleable/rank/state.h"

static _Atomic int alive;
static _Atomic int ignored;
static _Atomic int most;

struct start {
	void *(*function)(void *);
	void *argument;
};

static void ended(void *nothing)
{
	(void)nothing;
	atomic_fetch_sub(&alive, 1);
}

static void begun(void)
{
	int now = atomic_fetch_add(&alive, 1) + 1;
	int before = atomic_load(&most);

	while (before < now && !atomic_compare_exchange_weak(&most, &before, now))
		;
}

static void *run(void *opaque)
{
	struct start start = *(struct start *)opaque;
	void *result;

	free(opaque);
	mal_bind_new_thread();
	pthread_cleanup_push(ended, NULL);
	result = start.function(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
	static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct start *start;
	int result;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	if (!mal.active)
		return next(thread, attributes, function, argument);
	start = malloc(sizeof(*start));
	if (!start)
		return EAGAIN;
	*start = (struct start){function, argument};
	begun();
	result = next(thread, attributes, run, start);
	if (result) {
		ended(NULL);
		free(start);
	}
	return result;
}

unsigned int mal_threads_peak(void)
{
	int now = atomic_load(&alive);
	int peak = atomic_exchange(&most, now) - atomic_load(&ignored);

	return peak > 0 ? (unsigned int)peak + 1 : 1;
}

/* Threads of the team without the primary one. */
static int team_threads(void)
{
	unsigned int count = 0;

	while (count < mal.segment.thread_count && atomic_load_explicit(&mal.threads[count].tid, memory_order_relaxed))
		count++;
	return count ? (int)count - 1 : 0;
}

void mal_threads_ignore(void)
{
	atomic_store(&ignored, atomic_load(&alive) - team_threads());
}

bool mal_threads_are_foreign(void)
{
	return atomic_load_explicit(&alive, memory_order_relaxed) -
		       atomic_load_explicit(&ignored, memory_order_relaxed) >
	       team_threads();
}

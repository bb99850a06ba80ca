/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread.c: a thread beside the controller's loop. */
#include "libmalleable/controller/state/thread.h"

#include <pthread.h>

#define STACK_SIZE (128 * 1024)

int mal_thread_start(void *(*function)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int failed;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	failed = pthread_create(&thread, &attributes, function, argument);
	pthread_attr_destroy(&attributes);
	return failed ? -1 : 0;
}

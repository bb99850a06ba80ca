// SPDX-License-Identifier: LGPL-2.1-or-later
/* A library with state for each thread, as those of GPUs have, and no thread-local storage. */
#include "../libraries.h"

#include <pthread.h>

static pthread_key_t key;

__attribute__((constructor)) static void begin(void)
{
	pthread_key_create(&key, NULL);
}

void gpu_set_device(int device)
{
	pthread_setspecific(key, (void *)(long)device);
}

double gpu_value(double x)
{
	return x + (double)(long)pthread_getspecific(key);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sanitized.c: built with a sanitizer: uses malloc() and a thread, and prints what is left of the
 * balancer's environment.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

__attribute__((constructor)) static void constructed(void)
{
	dprintf(STDERR_FILENO, "constructed\n");
}

static void *fill(void *numbers)
{
	for (int i = 0; i < 7; i++)
		((int *)numbers)[i] = 6;
	return NULL;
}

int main(void)
{
	const char *preload = getenv("LD_PRELOAD");
	int *numbers = malloc(7 * sizeof(*numbers)), sum = 0, ours = 0;
	pthread_t thread;

	if (!numbers || pthread_create(&thread, NULL, fill, numbers) || pthread_join(thread, NULL))
		return 1;
	for (int i = 0; i < 7; i++)
		sum += numbers[i];
	for (char **variable = environ; *variable; variable++)
		ours += strncmp(*variable, "MALLEABLE_", 10) == 0;
	printf("sum %d\npreload %s, %d of ours\n", sum, preload && *preload ? preload : "none",
	       ours);
	free(numbers);
	return 0;
}

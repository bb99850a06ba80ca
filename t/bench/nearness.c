/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nearness.c: how long a cache line takes from one CPU to another and back, in nanoseconds.
 *
 * A virtual machine's CPUs move between the host's core complexes: programs whose threads share
 * data take longer while two CPUs do not share a cache, with balancing or without.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 100000 };

static _Alignas(128) atomic_int turn;

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		fprintf(stderr, "nearness: cannot run on CPU %d\n", cpu);
		exit(1);
	}
}

static void *answer(void *cpu)
{
	run_on(*(int *)cpu);
	for (int i = 0; i < ROUNDS; i++) {
		while (!atomic_load(&turn))
			;
		atomic_store(&turn, 0);
	}
	return NULL;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int cpus[] = {argc == 3 ? atoi(argv[1]) : 0, argc == 3 ? atoi(argv[2]) : 1};
	pthread_t thread;

	if (argc != 1 && argc != 3) {
		fprintf(stderr, "Usage: nearness [CPU CPU]\n");
		return 2;
	}
	run_on(cpus[0]);
	if (pthread_create(&thread, NULL, answer, &cpus[1])) {
		fprintf(stderr, "nearness: no thread\n");
		return 1;
	}
	double start = seconds();
	for (int i = 0; i < ROUNDS; i++) {
		atomic_store(&turn, 1);
		while (atomic_load(&turn))
			;
	}
	printf("%.0f\n", (seconds() - start) * 1e9 / ROUNDS);
	pthread_join(thread, NULL);
	return 0;
}

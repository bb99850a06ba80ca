/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * polls.c: polls ROUNDS: two ranks make calls of MPI that wait for times of all lengths, as there
 * are regions and work of random number and length between them. Now and then a second thread
 * exchanges messages, and starts a child process, while the first thread waits. Prints a sum that
 * depends on the rounds alone, and how many threads take no signal at all.
 */
#include <dirent.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/node/work.h"

static MPI_Comm beside;

static unsigned int any(unsigned int *seed, unsigned int below)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % below;
}

/* A message to and from the other rank, and a child process. */
static void *exchange(void *opaque)
{
	long *sum = opaque, other;
	int rank, status = 0;
	pid_t child;

	MPI_Comm_rank(beside, &rank);
	MPI_Sendrecv(sum, 1, MPI_LONG, 1 - rank, 0, &other, 1, MPI_LONG, 1 - rank, 0, beside,
		     MPI_STATUS_IGNORE);
	child = fork();
	if (child == 0) {
		usleep(3000);
		_exit(7);
	}
	waitpid(child, &status, 0);
	*sum = other + WEXITSTATUS(status);
	return NULL;
}

/* So many nanoseconds of one core. */
static long region(uint64_t work)
{
	long sum = 0;

#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
	for (int i = 0; i < 16; i++) {
		work_ns(work / 16);
		sum += i;
	}
	return sum;
}

/* Threads of this process that block SIGSEGV, as none of the program's or of MPI's does. */
static int deaf_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(tasks))) {
		char path[300], line[100];
		FILE *status;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		status = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (status && fgets(line, sizeof(line), status))
			if (strncmp(line, "SigBlk:", 7) == 0)
				count += strtoull(line + 7, NULL, 16) >> (SIGSEGV - 1) & 1;
		if (status)
			fclose(status);
	}
	closedir(tasks);
	return count;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100, rank, level, deaf, all_deaf;
	long sum = 0, mine, all;
	unsigned int seed;
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &beside);
	seed = (unsigned int)rank + 1;
	for (int round = 0; round < rounds; round++) {
		bool with_thread = round % 10 == 9;

		mine = rank + round;
		for (unsigned int regions = 1 + any(&seed, 4); regions; regions--)
			mine += region(4000000 + any(&seed, 12000000));
		for (unsigned int calls = 0; calls < 5; calls++) {
			work_ns(any(&seed, 200000));
			MPI_Barrier(MPI_COMM_WORLD);
		}
		if (with_thread)
			pthread_create(&thread, NULL, exchange, &mine);
		MPI_Barrier(MPI_COMM_WORLD);
		if (with_thread)
			pthread_join(thread, NULL);
		MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
		sum += all;
	}
	deaf = deaf_threads();
	MPI_Reduce(&deaf, &all_deaf, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("sum %ld\ndeaf %d\n", sum, all_deaf);
	MPI_Finalize();
	return 0;
}

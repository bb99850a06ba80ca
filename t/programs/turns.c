/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * turns.c [PHASES]: no OpenMP: two threads of a rank compute in turns, each as it gets the work
 * from the other: never both at once. Rank 0 has 3 times as much. Prints how long it took.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static int left; /* pieces of work; even ones are the helper's */
static int over;
static uint64_t value = 1;

/* Do the next piece if that is one of PARITY, and wait for the other thread else. */
static void work_or_wait(int parity)
{
	if (left == 0 || left % 2 != parity) {
		pthread_cond_wait(&passed, &lock);
		return;
	}
	for (int i = 0; i < 100000; i++)
		value = value * UINT64_C(6364136223846793005) + 1442695040888963407u;
	left--;
	pthread_cond_signal(&passed);
}

static void *help(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!over)
		work_or_wait(0);
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(int argc, char **argv)
{
	int rank, phases = argc > 1 ? atoi(argv[1]) : 20;
	pthread_t helper;
	double begin;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	pthread_create(&helper, NULL, help, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int phase = 0; phase < phases; phase++) {
		pthread_mutex_lock(&lock);
		left = rank == 0 ? 300 : 100;
		pthread_cond_signal(&passed);
		while (left > 0)
			work_or_wait(1);
		pthread_mutex_unlock(&lock);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("elapsed %.3f s\n", MPI_Wtime() - begin);
	pthread_mutex_lock(&lock);
	over = 1;
	pthread_cond_signal(&passed);
	pthread_mutex_unlock(&lock);
	pthread_join(helper, NULL);
	MPI_Finalize();
	return value == 0;
}

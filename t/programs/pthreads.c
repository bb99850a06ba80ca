/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pthreads.c [PHASES [SERIAL]]: no OpenMP: each phase creates two threads that share a rank's work,
 * 60,000 items each in rank 0, a third of that in others. Rank 0 does SERIAL ones before.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 2

static int items, serial;

static void work_on(uint64_t *value, int count)
{
	for (int i = 0; i < count; i++)
		for (int j = 0; j < 1000; j++)
			*value = *value * UINT64_C(6364136223846793005) + 1442695040888963407u;
}

static void *work(void *value)
{
	work_on(value, items);
	return NULL;
}

int main(int argc, char **argv)
{
	int rank, phases = argc > 1 ? atoi(argv[1]) : 20;
	uint64_t values[THREADS * 8] = {0}, sum = 0, all;
	double begin;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	items = rank == 0 ? 60000 : 20000;
	serial = rank == 0 && argc > 2 ? atoi(argv[2]) : 0;
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int phase = 0; phase < phases; phase++) {
		pthread_t threads[THREADS];

		work_on(&values[0], serial);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, work, &values[i * 8]);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	for (int i = 0; i < THREADS; i++)
		sum += values[i * 8];
	MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("elapsed %.3f s, result %016llx\n", MPI_Wtime() - begin,
		       (unsigned long long)all);
	MPI_Finalize();
	return 0;
}

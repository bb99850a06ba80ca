/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pthreads.c: no OpenMP: each phase creates two threads that share a rank's work, 3 times as much
 * in rank 0.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 2

static int items;

static void *work(void *opaque)
{
	uint64_t *value = opaque;

	for (int i = 0; i < items; i++)
		for (int j = 0; j < 1000; j++)
			*value = *value * UINT64_C(6364136223846793005) + 1442695040888963407u;
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
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int phase = 0; phase < phases; phase++) {
		pthread_t threads[THREADS];

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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * multiple.c: MPI_THREAD_MULTIPLE: all threads of a region exchange messages, and a pthread
 * computes alone.
 */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

static void *compute(void *result)
{
	double value = 0;

	for (long i = 0; i < 100000000; i++)
		value = value * 0.999 + 1;
	*(double *)result = value;
	return NULL;
}

int main(int argc, char **argv)
{
	int rank, size, level;
	double sum = 0, total, own = 0;
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	pthread_create(&thread, NULL, compute, &own);
	for (int i = 0; i < 30; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
		{
			int tag = omp_get_thread_num();
			double mine = i + rank, other;

			MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % size, tag, &other, 1,
				     MPI_DOUBLE, (rank + size - 1) % size, tag, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
			sum += other;
		}
	}
	MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	pthread_join(thread, NULL);
	if (rank == 0)
		printf("multiple %d total %.1f own %.1f\n", level == MPI_THREAD_MULTIPLE, total,
		       own);
	MPI_Finalize();
	return 0;
}

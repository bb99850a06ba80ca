/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* told.c: sizes an array by omp_get_max_threads() once and aborts if a region ever has another number of threads. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, threads;
	double *parts, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	threads = omp_get_max_threads();
	parts = calloc((size_t)threads, sizeof(*parts));
	for (int i = 0; i < 30; i++) {
#pragma omp parallel
		{
			double value = 0;

			if (omp_get_num_threads() != threads)
				abort();
#pragma omp for schedule(static)
			for (int j = 0; j < (rank ? 4000000 : 1000000); j++)
				value = value * 0.5 + j;
			parts[omp_get_thread_num()] += value;
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	for (int i = 0; i < threads; i++)
		sum += parts[i];
	printf("rank %d threads %d sum %.9e\n", rank, threads, sum);
	MPI_Finalize();
	return 0;
}

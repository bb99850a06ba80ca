/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * told.c: sizes an array by omp_get_max_threads() once, and aborts if a region ever has another
 * number of threads. With "late" it asks late, after regions that may have been widened because it
 * had not asked. With --until=FILE it goes on until that exists.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double compute(long count)
{
	double value = 0;

	for (long i = 0; i < count; i++)
		value = value * 0.5 + (double)i;
	return value;
}

static int goes_on(const char *file)
{
	int on = file && access(file, F_OK) != 0;

	if (file)
		MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return on;
}

int main(int argc, char **argv)
{
	const char *argument = argc > 1 ? argv[1] : "";
	const char *file = strncmp(argument, "--until=", 8) == 0 ? argument + 8 : NULL;
	int rank, threads;
	double *parts, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; strcmp(argument, "late") == 0 && i < 8; i++) {
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
		for (int j = 0; j < 32; j++)
			sum += compute(rank ? 1000000 : 100000);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	threads = omp_get_max_threads();
	parts = calloc((size_t)threads, sizeof(*parts));
	for (int i = 0; i < 30 || goes_on(file); i++) {
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

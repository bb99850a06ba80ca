/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scheduled.c: scheduled N: N phases with a loop of schedule(runtime) whose last quarter has most
 * of the work, so that with equal parts a thread waits. Prints the elapsed seconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "compute.h"

#define ITERATIONS 64

int main(int argc, char **argv)
{
	double start;
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	start = MPI_Wtime();
	for (int phase = 0; argc == 2 && phase < atoi(argv[1]); phase++) {
#pragma omp parallel for schedule(runtime)
		for (int i = 0; i < ITERATIONS; i++)
			compute_for(i < 3 * ITERATIONS / 4 ? 50e-6 : 500e-6);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	printf("elapsed %.3f s\n", MPI_Wtime() - start);
	MPI_Finalize();
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * serial.c: serial N: N times, rank 0 computes alone for 50 ms, outside any region, while the
 * others wait for it; then all run a short region.
 */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void compute(double seconds)
{
	double begin = now_s();

	while (now_s() - begin < seconds)
		;
}

int main(int argc, char **argv)
{
	int rank, level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; argc == 2 && i < atoi(argv[1]); i++) {
#pragma omp parallel
		compute(1e-4);
		if (rank == 0)
			compute(0.05);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}

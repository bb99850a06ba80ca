/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waits.c: waits N: N times, rank 1 waits in MPI_Recv for rank 0, which computes in 30 regions of 3
 * ms before it sends. There is no collective call in between.
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

static void compute(void)
{
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < 12; i++) {
		double begin = now_s();

		while (now_s() - begin < 250e-6)
			;
	}
}

int main(int argc, char **argv)
{
	int rank, level, message = 0;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	compute();
	for (int i = 0; argc == 2 && i < atoi(argv[1]); i++) {
		for (int j = 0; rank == 0 && j < 30; j++)
			compute();
		if (rank == 0)
			MPI_Send(&message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		else
			MPI_Recv(&message, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}

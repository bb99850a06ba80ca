/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * serial.c: serial N: N times, rank 0 computes alone for 50 ms, outside any region, while the
 * others wait for it; then all run a short region.
 */
#include <mpi.h>
#include <stdlib.h>

#include "compute.h"

int main(int argc, char **argv)
{
	int rank, level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; argc == 2 && i < atoi(argv[1]); i++) {
#pragma omp parallel
		compute_for(1e-4);
		if (rank == 0)
			compute_for(0.05);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpionly.c: an MPI program without OpenMP. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 100; i++) {
		double begin = MPI_Wtime();

		while (MPI_Wtime() - begin < (rank ? 0.003 : 0.001))
			;
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("sum %d\n", sum);
	MPI_Finalize();
	return 0;
}

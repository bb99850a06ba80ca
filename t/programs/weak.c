/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weak.c: a program that uses MPI's newer calls only if they exist, like mpi4py: prints which ones
 * it finds.
 */
#include <mpi.h>
#include <stdio.h>

int MPI_Bcast_c(void) __attribute__((weak));
int MPI_Gather_c(void) __attribute__((weak));
int MPI_Recv_c(void) __attribute__((weak));
int MPI_Alltoallw_c(void) __attribute__((weak));

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		printf("%d %d %d %d\n", MPI_Bcast_c != NULL, MPI_Gather_c != NULL,
		       MPI_Recv_c != NULL, MPI_Alltoallw_c != NULL);
	MPI_Finalize();
	return 0;
}

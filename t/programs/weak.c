/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weak.c: a program that uses MPI's newer calls only if they exist, like mpi4py: prints which ones
 * it finds.
 */
#include <mpi.h>
#include <stdio.h>

/* By names of ours: headers of newer ones declare them, not weak. */
int bcast(void) __asm__("MPI_Bcast_c") __attribute__((weak));
int gather(void) __asm__("MPI_Gather_c") __attribute__((weak));
int receive(void) __asm__("MPI_Recv_c") __attribute__((weak));
int alltoallw(void) __asm__("MPI_Alltoallw_c") __attribute__((weak));

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		printf("%d %d %d %d\n", bcast != NULL, gather != NULL, receive != NULL,
		       alltoallw != NULL);
	MPI_Finalize();
	return 0;
}

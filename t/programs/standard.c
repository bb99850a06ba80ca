/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * standard.c: twelve barriers, compiled for the ABI of MPI 5.0 (chapter 20), whose handles are
 * addresses.
 */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

typedef struct communicator *MPI_Comm;
#define MPI_COMM_WORLD ((MPI_Comm)0x101)

int MPI_Init(int *, char ***);
int MPI_Comm_rank(MPI_Comm, int *);
int MPI_Comm_size(MPI_Comm, int *);
int MPI_Barrier(MPI_Comm);
int MPI_Finalize(void);

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 12; i++) {
		usleep(rank ? 1000 : 5000);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("ranks %d\n", size);
	MPI_Finalize();
	return 0;
}

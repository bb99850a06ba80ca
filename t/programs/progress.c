/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * progress.c: rank 1 waits in a barrier and lends, while rank 0 computes in regions and in between
 * needs rank 1: for a message too long to be sent at once, and for sums in a window of rank 1.
 * Prints how long that takes: in all, or with an argument each time, "send MS" and "rma MS".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMES 20
#define LENGTH (1 << 20)

static double compute(void)
{
	double sum = 0;

#pragma omp parallel for schedule(dynamic, 100) reduction(+ : sum)
	for (int i = 0; i < 20000; i++)
		for (int j = 0; j < 300; j++)
			sum += 1.0 / (1.0 + i + j);
	return sum;
}

int main(int argc, char **argv)
{
	static char message[LENGTH];
	double waited = 0, most = 0, sum = 0;
	int rank, one = 1, result = 0;
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Win window;
	int *memory;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(sizeof(*memory), sizeof(*memory), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
			 &window);
	*memory = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < TIMES; i++) {
		if (rank == 1)
			MPI_Irecv(message, LENGTH, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
		for (int n = 0; rank == 0 && n < 5; n++) {
			double begin, sent;

			sum += compute();
			begin = MPI_Wtime();
			if (n == 0)
				MPI_Send(message, LENGTH, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
			sent = MPI_Wtime();
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
			for (int k = 0; k < 10; k++)
				MPI_Accumulate(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, window);
			MPI_Win_unlock(1, window);
			if (argc > 1 && n == 0)
				printf("send %.4f\n", (sent - begin) * 1e3);
			if (argc > 1)
				printf("rma %.4f\n", (MPI_Wtime() - sent) * 1e3);
			begin = MPI_Wtime() - begin;
			waited += begin;
			most = begin > most ? begin : most;
		}
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
	result = *memory;
	MPI_Win_unlock(rank, window);
	if (rank == 1)
		printf("sum %d\n", result);
	else
		fprintf(stderr, "%.2f ms on average, %.2f ms at most (%g)\n",
			waited / TIMES / 5 * 1e3, most * 1e3, sum);
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}

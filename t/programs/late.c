/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * late.c: ranks of the second half enter MPI_Finalize the given number of seconds after the others.
 * With "die" the first of them dies before that; with "send" rank 0 has sent it a large buffered
 * message, which it receives last.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE (64 << 20)

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, begin, sum = 0;
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 60; i++) {
#pragma omp parallel for reduction(+ : sum)
		for (int k = 0; k < 2000000; k++)
			sum += 1.0 / (k + 1);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (argc > 2 && strcmp(argv[2], "die") == 0 && rank == size / 2)
		raise(SIGKILL);
	if (argc > 2 && strcmp(argv[2], "send") == 0 && rank == 0) {
		MPI_Buffer_attach(malloc(SIZE + MPI_BSEND_OVERHEAD), SIZE + MPI_BSEND_OVERHEAD);
		MPI_Bsend(calloc(1, SIZE), SIZE, MPI_CHAR, size / 2, 0, MPI_COMM_WORLD);
	}
	for (begin = now(); rank >= size / 2 && now() - begin < seconds;)
		sum += 1;
	if (argc > 2 && strcmp(argv[2], "send") == 0 && rank == size / 2) {
		MPI_Recv(malloc(SIZE), SIZE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		printf("received %.1f s after it could be\n", now() - begin - seconds);
	}
	begin = now();
	MPI_Finalize();
	if (rank == 0)
		printf("MPI_Finalize took %.1f ms\n", (now() - begin) * 1e3);
	return sum < 0;
}

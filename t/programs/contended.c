/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * contended.c: contended N: N phases in which all threads count in the same word: the more threads,
 * the slower. Prints the elapsed seconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNTS 400000

int main(int argc, char **argv)
{
	static _Alignas(64) volatile long sum;
	double begin;
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	begin = MPI_Wtime();
	for (int i = 0; argc == 2 && i < atoi(argv[1]); i++) {
#pragma omp parallel for schedule(dynamic, 1000)
		for (int j = 0; j < COUNTS; j++) {
#pragma omp atomic
			sum++;
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	printf("elapsed %.3f s, sum %ld\n", MPI_Wtime() - begin, sum);
	MPI_Finalize();
	return 0;
}

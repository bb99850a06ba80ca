/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sized.c: ranks meet in collective calls with counts of type MPI_Count alone, and rank 1, with a
 * third of the work, waits there.
 */
#include <mpi.h>
#include <stdio.h>

#define TIMES 30

static double compute(int thousands)
{
	double sum = 0;

#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
	for (int i = 0; i < thousands; i++)
		for (int j = 0; j < 1000; j++)
			sum += 1.0 / (1.0 + i + j);
	return sum;
}

int main(int argc, char **argv)
{
	int rank, one = 1, all = 0, total = 0;
	double sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < TIMES; i++) {
		sum += compute(rank ? 2000 : 6000);
		MPI_Allreduce_c(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		total += all;
	}
	if (rank == 0 && sum > 0)
		printf("total %d\n", total);
	MPI_Finalize();
	return 0;
}

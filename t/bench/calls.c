/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * calls.c: nanoseconds per empty parallel region, per MPI call and per phase of a program: what a tool adds to them.
 * For t/bench/overhead, which runs it without a tool, with an empty one, balanced, and with peers.
 */
#include <mpi.h>
#include <stdio.h>

#define REGIONS 20000
#define CALLS 200000
#define PHASES 5000

static volatile int sink;

static double regions(void)
{
	double begin = MPI_Wtime();

	for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel
		{
			if (sink)
				sink = 0;
		}
	}
	return (MPI_Wtime() - begin) / REGIONS * 1e9;
}

static double calls(void)
{
	double begin = MPI_Wtime(), in = 1, out;

	for (int i = 0; i < CALLS; i++)
		MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
	return (MPI_Wtime() - begin) / CALLS * 1e9;
}

/* A phase: two regions and a collective call. */
static double phases(void)
{
	double begin = MPI_Wtime();

	for (int i = 0; i < PHASES; i++) {
		for (int region = 0; region < 2; region++) {
#pragma omp parallel
			{
				if (sink)
					sink = 0;
			}
		}
		MPI_Barrier(MPI_COMM_SELF);
	}
	return (MPI_Wtime() - begin) / PHASES * 1e9;
}

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	regions();
	printf("region %.1f", regions());
	calls();
	printf(" call %.1f", calls());
	phases();
	printf(" phase %.1f\n", phases());
	MPI_Finalize();
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * calls.c: nanoseconds per empty parallel region, per MPI call and per phase of a program: what a
 * tool adds to them. The median of many short batches, so that an interruption of the machine
 * spoils one batch only. For t/bench/overhead, which runs it without a tool, with an empty one,
 * balanced, and with peers.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A batch takes some 0.2 to 1 ms. */
#define BATCHES 101
#define REGIONS 400
#define CALLS 4000
#define PHASES 200

static volatile int sink;

static void region(void)
{
#pragma omp parallel
	{
		if (sink)
			sink = 0;
	}
}

static void call(void)
{
	double in = 1, out;

	MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

/* Two regions and a collective call over all ranks. */
static void phase(void)
{
	region();
	region();
	MPI_Barrier(MPI_COMM_WORLD);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Nanoseconds per WHAT, of which a batch has COUNT. */
static double measure(void (*what)(void), int count)
{
	double each[BATCHES];

	for (int batch = 0; batch < BATCHES; batch++) {
		double begin = MPI_Wtime();

		for (int i = 0; i < count; i++)
			what();
		each[batch] = (MPI_Wtime() - begin) / count * 1e9;
	}
	qsort(each, BATCHES, sizeof(each[0]), compare);
	return each[BATCHES / 2];
}

/* A look for a message that never comes. */
static void test(void)
{
	static MPI_Request request;
	static int begun, message, done;

	if (!begun++)
		MPI_Irecv(&message, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
	MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/* calls region|call|test N: only these, N times, for counting instructions. */
static void repeat(const char *what, long count)
{
	for (long i = 0; i < count; i++) {
		if (strcmp(what, "region") == 0)
			region();
		else if (strcmp(what, "test") == 0)
			test();
		else
			call();
	}
}

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	if (argc == 3) {
		repeat(argv[1], atol(argv[2]));
		MPI_Finalize();
		return 0;
	}
	measure(region, REGIONS);
	printf("region %.1f", measure(region, REGIONS));
	printf(" call %.1f", measure(call, CALLS));
	printf(" phase %.1f\n", measure(phase, PHASES));
	MPI_Finalize();
	return 0;
}

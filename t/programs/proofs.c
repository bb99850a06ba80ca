/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * proofs.c: regions that cannot tell how large their team is, and, as it is compiled, one of a kind
 * that can: -DSLOTS (arrays by thread), -DSTART (each thread says where its part starts), -DCOUNT
 * (each thread counts itself), -DPART (a partition by hand), -DSTORAGE (data for each thread),
 * -DNUMBERS (a clause). The free one divides its iterations as they come, or as gcc does it with
 * -DSTATIC. One rank has all of the work: the first one, or with an argument "last" the
 * last. Prints what it was told first (not with -DQUIET), then results and the sizes of teams in
 * regions that can tell, which must be what the program was told.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ROUNDS
#define ROUNDS 40
#endif
enum { PIECES = 64, MOST = 1024 };

static long cells[PIECES], parts[MOST], starts[MOST], unequal;
static int length = 40000;

__attribute__((noinline)) static long compute(long from, long count)
{
	unsigned long value = (unsigned long)from;

	/* The shift keeps compilers from folding several steps into one. */
	for (long i = 0; i < count; i++) {
		value = value * 6364136223846793005u + 1442695040888963407u;
		value ^= value >> 29;
	}
	return (long)(value >> 40);
}

#ifdef STATIC
#define SCHEDULE static
#else
#define SCHEDULE dynamic
#endif

/* Iterations come to whoever is there. */
__attribute__((noinline)) static long run_free(long pieces, long count)
{
	long sum = 0;

#pragma omp parallel for schedule(SCHEDULE)
	for (long i = 0; i < pieces; i++)
		cells[i] = compute(i, count);
	for (long i = 0; i < pieces; i++)
		sum += cells[i];
	return sum;
}

#if defined(SLOTS)
static long run_bound(int told, long count)
{
	long sum = 0;

	memset(parts, 0, sizeof(parts));
#pragma omp parallel
	{
		parts[omp_get_thread_num()] = compute(7, count);
#pragma omp master
		unequal += omp_get_num_threads() != told;
	}
	for (int i = 0; i < told; i++)
		sum += parts[i];
	return sum;
}
#elif defined(START)
static long run_bound(int told, long count)
{
	long sum = 0;

#pragma omp parallel
	{
		long first = 1;
#pragma omp for schedule(static)
		for (long i = 0; i < PIECES; i++) {
			if (first)
				starts[omp_get_thread_num()] = i;
			first = 0;
			cells[i] = compute(i, count / PIECES);
		}
#pragma omp master
		unequal += omp_get_num_threads() != told;
	}
	for (int i = 0; i < told; i++)
		sum += starts[i] * (i + 1);
	return sum + cells[3];
}
#elif defined(COUNT)
static long run_bound(int told, long count)
{
	long threads = 0;

#pragma omp parallel
	{
#pragma omp atomic
		threads++;
	}
	unequal += threads != told;
	return threads + (count & 0);
}
#elif defined(PART)
static long run_bound(int told, long count)
{
	long sum = 0;

#pragma omp parallel reduction(+ : sum)
	{
		int me = omp_get_thread_num(), all = omp_get_num_threads();
		long from = PIECES * me / all, to = PIECES * (me + 1) / all;

		sum += compute(from, count / all) * (to - from);
		if (!me)
			unequal += all != told;
	}
	return sum;
}
#elif defined(STORAGE)
static long mine;
#pragma omp threadprivate(mine)
static long run_bound(int told, long count)
{
	long sum = 0;

#pragma omp parallel reduction(+ : sum)
	{
		mine += compute(5, count) & 15;
		sum += mine;
	}
	return sum + 0 * told;
}
#elif defined(NUMBERS)
static long run_bound(int told, long count)
{
	long threads = 0;

#pragma omp parallel num_threads(2)
	{
#pragma omp atomic
		threads++;
	}
	unequal += threads != 2;
	return threads + 0 * (told + count);
}
#else
static long run_bound(int told, long count)
{
	return 0 * (told + count);
}
#endif

int main(int argc, char **argv)
{
	int rank, ranks, told = 0, heavy;
	long sum = 0, other = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	heavy = argc > 1 && strcmp(argv[1], "last") == 0 ? rank == ranks - 1 : rank == 0;
#ifndef QUIET
	told = omp_get_max_threads();
	printf("rank %d told %d\n", rank, told);
#endif
	for (int i = 0; i < ROUNDS; i++) {
		sum += run_free(PIECES, heavy ? 4L * length : length / 4);
		other += run_bound(told, length);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	printf("rank %d sum %ld other %ld unequal %ld\n", rank, sum, other, unequal);
	MPI_Finalize();
	return 0;
}

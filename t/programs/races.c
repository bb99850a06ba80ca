/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * races.c: loops whose results may depend on the number of threads: races KIND[,KIND...] ROUNDS
 * [FILE]. Each round computes the same, rank 0 three times as much as the others, and ends in a
 * barrier. Prints what the first round gave, and how many others gave something else; with FILE
 * there are further rounds until that exists.
 *
 * Right with one thread alone are scratch, a static work array in a function that the loop calls;
 * random, drand48(); list, which realloc() makes longer; shared, a variable that should be private;
 * last, which iteration comes last. With any number is plain. sum, of floating-point values, has
 * other last bits with each number. The teams of these two and of scratch can be watched
 * (libm.watch.c).
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ITEMS 24
#define CELLS 256

enum watched { PLAIN = 1, SUM, SCRATCH };

static double results[ITEMS];
static double work_array[CELLS];
static double temporary;
static uint64_t *list;
static size_t length;
static int last;

static __attribute__((noinline)) uint64_t burn(uint64_t x, int times)
{
	for (int i = 0; i < times; i++)
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return x >> 54;
}

static __attribute__((noinline)) double integrate(int seed)
{
	double sum = 0;

	for (int i = 0; i < CELLS; i++)
		work_array[i] = (seed + i * 7) % 1000;
	for (int k = 0; k < 100; k++)
		for (int i = 1; i < CELLS - 1; i++)
			work_array[i] = 0.25 * work_array[i - 1] + 0.5 * work_array[i] +
					0.25 * work_array[i + 1];
	for (int i = 0; i < CELLS; i++)
		sum += work_array[i];
	return sum;
}

static double scratch(int items)
{
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < items; i++)
		results[i] = integrate(i + (int)cbrt(SCRATCH));
	return 0;
}

static double random_numbers(int items)
{
	srand48(1);
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < items; i++) {
		results[i] = 0;
		for (int k = 0; k < 2000; k++)
			results[i] += drand48() * (i + 1);
	}
	return 0;
}

static __attribute__((noinline)) void append(uint64_t x)
{
	uint64_t *longer = realloc(list, (length + 1) * sizeof(*list));

	if (!longer)
		exit(1);
	list = longer;
	list[length++] = x;
}

static double lists(int items)
{
	double sum = 0;

	length = 0;
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < items; i++)
		for (int k = 0; k < 10; k++)
			append(burn((uint64_t)i, 1000));
	for (size_t i = 0; i < length; i++)
		sum = sum * 0.5 + (double)list[i];
	return sum;
}

static double shared(int items)
{
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < items; i++) {
		temporary = 0;
		for (int k = 0; k < 20; k++)
			temporary += (double)burn((uint64_t)(i + k), 1000);
		results[i] = temporary;
	}
	return temporary;
}

static double last_one(int items)
{
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < items; i++) {
		results[i] = (double)burn((uint64_t)i, i % 2 ? 20000 : 40000);
		last = i;
	}
	return last;
}

static double plain(int items)
{
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < items; i++)
		results[i] = (double)burn((uint64_t)i, 100000) + cbrt(PLAIN);
	return 0;
}

static double sum(int items)
{
	double all = 0;

#pragma omp parallel for reduction(+ : all)
	for (int i = 0; i < items; i++)
		for (int k = 0; k < 1000; k++)
			all += 1.0 / (1.0 + i * 1000 + k + (k ? 0 : cbrt(SUM)));
	return all;
}

static const struct {
	const char *name;
	double (*loop)(int items);
} kinds[] = {{"scratch", scratch}, {"random", random_numbers}, {"list", lists}, {"shared", shared},
	     {"last", last_one},   {"plain", plain},	       {"sum", sum}};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static double run(unsigned int kind, int items)
{
	double all;

	memset(results, 0, sizeof(results));
	all = kinds[kind].loop(items);
	for (int i = 0; i < ITEMS; i++)
		all = all * 0.75 + results[i];
	return all;
}

int main(int argc, char **argv)
{
	int rank, rounds = argc > 2 ? atoi(argv[2]) : 1, over = 0;
	double first[KINDS] = {0};
	long differ[KINDS] = {0};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int round = 0; !over; round++) {
		for (unsigned int kind = 0; kind < KINDS; kind++) {
			double now;

			if (argc > 1 && !strstr(argv[1], kinds[kind].name))
				continue;
			now = run(kind, rank ? ITEMS / 3 : ITEMS);
			if (!round)
				first[kind] = now;
			differ[kind] += memcmp(&now, &first[kind], sizeof(now)) != 0;
			MPI_Barrier(MPI_COMM_WORLD);
		}
		over = round + 1 >= rounds && (argc < 4 || access(argv[3], F_OK) == 0);
		MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	for (unsigned int kind = 0; kind < KINDS; kind++)
		if (argc < 2 || strstr(argv[1], kinds[kind].name))
			printf("rank %d %s %a, %ld differ\n", rank, kinds[kind].name, first[kind],
			       differ[kind]);
	MPI_Finalize();
	return 0;
}

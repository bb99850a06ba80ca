/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patterns.c: what OpenMP programs rely on, one pattern per run: patterns NAME [ITERATIONS [FILE]].
 *
 * Prints a number that depends on the work of the iterations only, then goes on until FILE exists.
 * Several patterns, with commas, run one after the other. A program whose threads are not as it was
 * told, or as it requested, ends with status 3. All sums are of integers, so that they are the same
 * in any order.
 *
 * Data for each thread and questions for the number of threads change how a whole program is
 * treated, so these patterns are in builds of their own: FREE has the patterns that ask no
 * question, FREE_OF_LOOPS those for which gcc asks none either.
 */
#include <mpi.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef FREE_OF_LOOPS
#define FREE
#endif

#define ITERATIONS 40
#define ITEMS 256

static int rank;

static __attribute__((unused)) void broken(const char *why)
{
	fprintf(stderr, "patterns: rank %d: %s\n", rank, why);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

/* All items are some work, rank 0's are more. */
static uint64_t work(uint64_t seed)
{
	uint64_t value = seed;

	for (int i = 0; i < (rank == 0 ? 24000 : 6000); i++)
		value = value * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return value;
}

static uint64_t all_items(int iteration)
{
	uint64_t sum = 0;

#pragma omp parallel for schedule(dynamic, 4) reduction(+ : sum)
	for (int i = 0; i < ITEMS; i++)
		sum += work((uint64_t)(iteration * ITEMS + i));
	return sum;
}

#ifndef FREE
/* Arrays sized at the start, indexed by thread. */
static uint64_t sized_once(int iteration)
{
	static uint64_t *parts;
	static int size;
	uint64_t sum = 0;

	if (!parts) {
		size = omp_get_max_threads();
		parts = calloc((size_t)size, sizeof(*parts));
	}
	memset(parts, 0, (size_t)size * sizeof(*parts));
#pragma omp parallel
	{
		int me = omp_get_thread_num();

		if (me >= size)
			broken("more threads than it was told at the start");
#pragma omp for
		for (int i = 0; i < ITEMS; i++)
			parts[me] += work((uint64_t)(iteration * ITEMS + i));
	}
	for (int i = 0; i < size; i++)
		sum += parts[i];
	return sum;
}

/* The same with omp_get_num_procs(). */
static uint64_t sized_by_procs(int iteration)
{
	static int size;

	if (!size)
		size = omp_get_num_procs() > omp_get_max_threads() ? omp_get_num_procs()
								   : omp_get_max_threads();
#pragma omp parallel
	if (omp_get_thread_num() >= size)
		broken("more threads than processors");
	return all_items(iteration);
}

/* Sized before each region, and read completely after it (LULESH). */
static uint64_t sized_each(int iteration)
{
	int size = omp_get_max_threads();
	uint64_t *parts = malloc((size_t)size * sizeof(*parts)), sum = 0;

	memset(parts, 0xff, (size_t)size * sizeof(*parts));
#pragma omp parallel
	{
		uint64_t part = 0;

#pragma omp for nowait
		for (int i = 0; i < ITEMS; i++)
			part += work((uint64_t)(iteration * ITEMS + i));
		if (omp_get_thread_num() >= size)
			broken("more threads than it was told before the region");
		parts[omp_get_thread_num()] = part;
	}
	for (int i = 0; i < size; i++)
		sum += parts[i];
	free(parts);
	return sum;
}

/* Fails if the number of threads ever changes (DBCSR). */
static uint64_t fixed(int iteration)
{
	static int threads;

	if (!threads)
		threads = omp_get_max_threads();
#pragma omp parallel
	if (omp_get_num_threads() != threads)
		broken("thread number has changed");
	return all_items(iteration);
}
#endif

#ifdef THREAD_DATA
static uint64_t persistent;
#pragma omp threadprivate(persistent)

/* Each thread counts in its own variable from region to region. */
static uint64_t threadprivate(int iteration)
{
#pragma omp parallel
	persistent++;
#pragma omp parallel
	if (persistent != (uint64_t)iteration + 1)
		broken("a thread has lost its data");
	return all_items(iteration);
}
#endif

#ifndef FREE
static uint64_t clauses(int iteration)
{
	for (int threads = 1; threads <= 3; threads++) {
#pragma omp parallel num_threads(threads)
		if (omp_get_num_threads() != threads)
			broken("num_threads() was not kept");
	}
	return all_items(iteration);
}
#endif

#ifndef FREE_OF_LOOPS
static uint64_t nested(int iteration)
{
	uint64_t sum = 0;

	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : sum)
	{
		uint64_t inner = 0;

#pragma omp for schedule(static)
		for (int outer = 0; outer < 8; outer++) {
#pragma omp parallel for num_threads(2) reduction(+ : inner)
			for (int i = 0; i < ITEMS / 8; i++)
				inner += work((uint64_t)(iteration * ITEMS + outer * 32 + i));
		}
		sum += inner;
	}
	return sum;
}
#endif

static uint64_t tasks(int iteration)
{
	uint64_t values[ITEMS / 4] = {0}, sum = 0;

#pragma omp parallel
#pragma omp single
	{
#pragma omp taskloop grainsize(4)
		for (int i = 0; i < ITEMS / 4; i++)
			values[i] = work((uint64_t)(iteration * ITEMS + i));
		for (int i = 1; i < ITEMS / 4; i++) {
#pragma omp task depend(in : values[i - 1]) depend(inout : values[i])
			values[i] += values[i - 1] >> 1;
		}
	}
	for (int i = 0; i < ITEMS / 4; i++)
		sum += values[i];
	return sum;
}

#ifndef FREE_OF_LOOPS
/* Each thread touches the same part in each region, as the static schedule says. */
static uint64_t first_touch(int iteration)
{
	static uint64_t *field;
	uint64_t sum = 0;

	if (!field) {
		field = malloc(sizeof(*field) * ITEMS * 64);
#pragma omp parallel for schedule(static)
		for (int i = 0; i < ITEMS * 64; i++)
			field[i] = (uint64_t)i;
	}
#pragma omp parallel for schedule(static) reduction(+ : sum)
	for (int i = 0; i < ITEMS * 64; i++) {
		field[i] += i % 64 ? (uint64_t)iteration : work(field[i]);
		sum += field[i];
	}
	return sum;
}

static uint64_t part_of_a_region(int iteration)
{
	uint64_t sum = 0;

#pragma omp for schedule(static) nowait
	for (int i = 0; i < ITEMS; i++)
		sum += work((uint64_t)(iteration * ITEMS + i));
	return sum;
}

static uint64_t orphaned(int iteration)
{
	uint64_t sum = 0;

#pragma omp parallel reduction(+ : sum)
	sum += part_of_a_region(iteration);
	return sum;
}
#endif

static uint64_t dynamic(int iteration)
{
	omp_set_dynamic(1);
	return all_items(iteration);
}

#ifndef FREE
/* The program sets its number of threads again and again. */
static uint64_t chosen(int iteration)
{
	int threads = 1 + iteration % 3;

	omp_set_num_threads(threads);
	if (omp_get_max_threads() != threads)
		broken("omp_get_max_threads() contradicts omp_set_num_threads()");
#pragma omp parallel
	if (omp_get_num_threads() != threads)
		broken("omp_set_num_threads() was not kept");
	return all_items(iteration);
}
#endif

static const struct {
	const char *name;
	uint64_t (*run)(int iteration);
} patterns[] = {
	{"plain", all_items},
	{"tasks", tasks},
	{"dynamic", dynamic},
#ifndef FREE_OF_LOOPS
	{"nested", nested},
	{"first-touch", first_touch},
	{"orphaned", orphaned},
#endif
#ifndef FREE
	{"sized-once", sized_once},
	{"sized-by-procs", sized_by_procs},
	{"sized-each", sized_each},
	{"fixed", fixed},
	{"clauses", clauses},
	{"chosen", chosen},
#endif
#ifdef THREAD_DATA
	{"threadprivate", threadprivate},
#endif
};

#define PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

static uint64_t iterate(uint64_t (*run)(int), int iteration)
{
	uint64_t value = run(iteration);

	MPI_Barrier(MPI_COMM_WORLD);
	return value;
}

/* Whether FILE is still missing, as rank 0 sees it. */
static int goes_on(const char *file)
{
	int on = file && access(file, F_OK) != 0;

	MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return on;
}

static void run_pattern(uint64_t (*run)(int), int iterations, const char *file)
{
	uint64_t sum = 0, all = 0;
	double begin = MPI_Wtime();

	for (int i = 0; i < iterations; i++)
		sum = sum * 31 + iterate(run, i);
	if (rank == 0)
		fprintf(stderr, "elapsed %.3f\n", MPI_Wtime() - begin);
	MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%016llx\n", (unsigned long long)all);
	fflush(stdout);
	for (int i = iterations; goes_on(file); i++)
		iterate(run, i);
}

/* NULL: there is none of that name. */
static uint64_t (*find(const char *name))(int)
{
	for (size_t i = 0; i < PATTERNS; i++)
		if (strcmp(name, patterns[i].name) == 0)
			return patterns[i].run;
	return NULL;
}

int main(int argc, char **argv)
{
	int iterations = argc > 2 ? atoi(argv[2]) : ITERATIONS;
	char *name = argc > 1 ? strtok(argv[1], ",") : NULL;

	MPI_Init(&argc, &argv);
	if (!name || !find(name)) {
		fprintf(stderr, "patterns: name a pattern\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
		return 2;
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	for (; name && find(name); name = strtok(NULL, ","))
		run_pattern(find(name), iterations, argc > 3 ? argv[3] : NULL);
	MPI_Finalize();
	return 0;
}

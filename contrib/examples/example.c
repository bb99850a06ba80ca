/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* example.c: options, iterations and results of the example programs. */
#include "contrib/examples/example.h"

#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char common_help[] = "  --iterations=N   timed iterations\n"
				  "  --warm-up=N      iterations before, not timed (default 0)\n"
				  "  --unit-ns=N      what a unit takes on the timed node, t/node\n"
				  "  --mark-phases    call malleable_phase() after each iteration\n"
				  "  --verbose        print the time of each iteration\n";

double example_unit_ns;

/* The timed node works, while Linux has no such sleep. Returns 0 if there is one. */
int example_take_ns(double ns)
{
	const struct timespec time = {(time_t)(ns / 1e9), (long)fmod(ns, 1e9)};

	return clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &time, NULL);
}

void (*example_find_mark(void))(void)
{
	union {
		void *object;
		void (*function)(void);
	} mark = {dlsym(RTLD_DEFAULT, "malleable_phase")};

	return mark.function;
}

static bool given(struct example *example, const char *name)
{
	for (int i = 1; i < example->argc; i++) {
		if (strcmp(example->argv[i], name) != 0)
			continue;
		example->used[i] = true;
		return true;
	}
	return false;
}

static void refuse(const struct example *example, const char *argument)
{
	if (example->rank == 0)
		fprintf(stderr, "%s: wrong option '%s', see --help\n", example->name, argument);
	MPI_Finalize();
	exit(2);
}

double example_number(struct example *example, const char *name, double fallback)
{
	size_t length = strlen(name);
	double value = fallback;

	for (int i = 1; i < example->argc; i++) {
		const char *argument = example->argv[i];
		char *end;

		if (strncmp(argument, "--", 2) != 0 || strncmp(argument + 2, name, length) != 0 ||
		    argument[2 + length] != '=')
			continue;
		value = strtod(argument + 3 + length, &end);
		if (*end || end == argument + 3 + length || value < 0)
			refuse(example, argument);
		example->used[i] = true;
	}
	return value;
}

void example_begin(struct example *example, int argc, char **argv, const char *summary,
		   const char *help, int iterations)
{
	const char *slash = strrchr(argv[0], '/');
	int level;

	*example =
		(struct example){.name = slash ? slash + 1 : argv[0], .argc = argc, .argv = argv};
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			printf("Usage: %s [OPTIONS], started as MPI program\n\n%s\n\n%s%s",
			       example->name, summary, help, common_help);
			exit(0);
		}
	}
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &example->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &example->ranks);
	example->used = example_reserve((size_t)argc, sizeof(*example->used));
	example->iterations = (int)example_number(example, "iterations", iterations);
	example->warm_up = (int)example_number(example, "warm-up", 0);
	example_unit_ns = example_number(example, "unit-ns", 0);
	example->verbose = given(example, "--verbose");
	if (given(example, "--mark-phases"))
		example->mark = example_find_mark();
}

void example_ready(struct example *example)
{
	for (int i = 1; i < example->argc; i++)
		if (!example->used[i])
			refuse(example, example->argv[i]);
	MPI_Barrier(MPI_COMM_WORLD);
	example->began = MPI_Wtime();
}

void example_iteration_begin(struct example *example, int iteration)
{
	example->iteration_began = MPI_Wtime();
	if (iteration == 0)
		example->began = example->iteration_began;
}

void example_iteration_end(struct example *example, int iteration)
{
	if (example->mark)
		example->mark();
	if (example->verbose && example->rank == 0)
		printf("iteration %d: %.4f s\n", iteration, MPI_Wtime() - example->iteration_began);
}

int example_end(struct example *example, double value, const char *error)
{
	double elapsed = MPI_Wtime() - example->began;
	int failed = error != NULL;

	if (example->rank == 0)
		printf("elapsed %.4f s, result %.10e, %s%s\n", elapsed, value,
		       error ? "WRONG: " : "verified", error ? error : "");
	if (example->verbose && example->rank == 0)
		printf("all bits of the result: %a\n", value);
	free(example->used);
	MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Finalize();
	return failed ? 1 : 0;
}

void example_share(const struct example *example, int rows, const double *weight, int *first,
		   int *count)
{
	double sum = 0, before = 0;
	int end;

	for (int rank = 0; rank < example->ranks; rank++)
		sum += weight[rank];
	for (int rank = 0; rank < example->rank; rank++)
		before += weight[rank];
	*first = (int)(before / sum * rows + 0.5);
	end = (int)((before + weight[example->rank]) / sum * rows + 0.5);
	*count = end - *first;
}

void *example_reserve(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory) {
		fputs("out of memory\n", stderr);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return memory;
}

int example_neighbour(const struct example *example, int step)
{
	int rank = example->rank + step;

	return rank < 0 || rank >= example->ranks ? MPI_PROC_NULL : rank;
}

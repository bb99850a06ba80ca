/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wheel.c: a program that loads libraries privately, like Python: wheel [deep] [last] [forked]
 * [early] LIBRARY..., with RTLD_DEEPBIND, its own regions last instead of first, in a forked child
 * that has opened regions, and with regions between the runtime's start and the library's first.
 * The library (built with LIBRARY defined) brings its own OpenMP runtime. Prints what each library
 * was told and had, and how many of its items were not handled exactly once.
 */
#include <stdio.h>

int wheel_run(int iterations, int *max, int *threads, int *procs);
int wheel_start(void);

#ifdef LIBRARY
#include <omp.h>

#define ITEMS 1000

/* Each thread handles its part, divided by the program itself. */
static int handle(int *done)
{
	int size = omp_get_max_threads(), wrong = 0;

#pragma omp parallel
	{
		int me = omp_get_thread_num(), part = (ITEMS + size - 1) / size;

		for (int i = me * part; i < (me + 1) * part; i++) {
#pragma omp atomic
			done[i < ITEMS ? i : ITEMS]++;
		}
	}
	for (int i = 0; i < ITEMS; i++)
		wrong += done[i] != 1;
	return wrong + done[ITEMS];
}

/* LLVM's runtime starts, and counts no CPUs yet. */
int wheel_start(void)
{
	return omp_in_parallel();
}

int wheel_run(int iterations, int *max, int *threads, int *procs)
{
	int wrong = 0, count = 0;

	for (int i = 0; i < iterations; i++) {
		int done[ITEMS + 1] = {0};

		wrong += handle(done);
	}
	*max = omp_get_max_threads();
	*procs = omp_get_num_procs();
#pragma omp parallel
#pragma omp single
	*threads = omp_get_num_threads();
	omp_set_num_threads(3);
#pragma omp parallel reduction(+ : count)
	count++;
	return wrong + (count != 3 || omp_get_max_threads() != 3);
}
#else
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;

static bool early;

static int run_region(void)
{
	int count = 0;

#pragma omp parallel
#pragma omp atomic
	count++;
	return count;
}

static int run_regions(void)
{
	int count = 0;

	for (int i = 0; i < 10; i++) {
		count += run_region();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return count;
}

static bool run_library(const char *name, int flags)
{
	int (*run)(int, int *, int *, int *) = NULL, (*start)(void) = NULL;
	int max, threads, procs, wrong;
	void *library = dlopen(name, flags);

	if (library)
		*(void **)&run = dlsym(library, "wheel_run");
	if (library)
		*(void **)&start = dlsym(library, "wheel_start");
	if (!run) {
		printf("wheel: %s\n", dlerror());
		return false;
	}
	if (early && start() == 0)
		run_regions();
	wrong = run(100, &max, &threads, &procs);
	if (rank == 0)
		printf("max %d, threads %d, procs %d, wrong %d\n", max, threads, procs, wrong);
	return true;
}

static bool run_libraries(char **names, int flags)
{
	bool good = true;

	while (good && *names)
		good = run_library(*names++, flags);
	return good;
}

/* The same in a child, behind a region of its own. */
static bool run_in_child(char **names, int flags)
{
	int status = 0;

	if (fork() == 0) {
		bool good = run_region() && run_libraries(names, flags);

		fflush(stdout);
		_exit(good ? 0 : 1);
	}
	return wait(&status) > 0 && status == 0;
}

int main(int argc, char **argv)
{
	int flags = RTLD_NOW | RTLD_LOCAL, count = 0;
	bool good, last = false, forked = false;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (; argc > 1 && !strchr(argv[1], '/'); argc--, argv++) {
		last |= strcmp(argv[1], "last") == 0;
		forked |= strcmp(argv[1], "forked") == 0;
		early |= strcmp(argv[1], "early") == 0;
		flags |= strcmp(argv[1], "deep") == 0 ? RTLD_DEEPBIND : 0;
	}
	if (!last)
		count = run_regions();
	good = forked ? run_in_child(argv + 1, flags) : run_libraries(argv + 1, flags);
	if (last)
		count = run_regions();
	MPI_Finalize();
	return !good || count == 0;
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * identity.c: what a program can learn about its teams, one CASE per build. Rank 0 computes and the
 * others wait for it, so that its regions are widened if possible. Prints how often something
 * differed from a run without balancing. With an argument it goes on until a region was widened,
 * for some minutes at most.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compute.h"

#define REGIONS 20
#define PLAIN 0	     /* counts the threads of its regions; relies on nothing */
#define NUMBER 1     /* an array sized without the runtime, indexed by thread number */
#define SPELLING 2   /* the same, by Fortran's function names */
#define HOST 3	     /* a thread of the program with settings of its own */
#define NESTED 4     /* settings inside a region */
#define INHERITED 5  /* nested regions, without any question */
#define SET_INSIDE 6 /* omp_set_num_threads() inside a region */
#define ASKED 7	     /* the first question comes from inside a region */
#define LOOKED_UP 8  /* the same, by dlsym() */
#define CACHED 9     /* threadprivate */
#define LIBRARY 10   /* a library keeps data for each thread */
#define LOADED 11    /* such a library is loaded after some regions */
#define KEY 12	     /* data for each thread through the C library */
#define LEVEL 13     /* a region of one thread is no active one */
#define POINTER 14   /* as NUMBER, by a pointer in a program that runs where it was linked to */

int omp_get_thread_num_(void);
uint64_t library_count(void);

static int rank, until_wide;
static _Atomic long wrong, wide;

static __attribute__((unused)) void wrong_if(int condition)
{
	if (condition)
		atomic_fetch_add(&wrong, 1);
}

/* A region that counts its threads. */
static __attribute__((noinline, unused)) int count_threads(void)
{
	int count = 0;

#pragma omp parallel
	{
#pragma omp atomic
		count++;
		compute(rank, 0.008);
	}
	if (count > 1)
		wide++;
	return count;
}

#if CASE == NUMBER || CASE == SPELLING || CASE == POINTER
/* What a variable says, or 1. */
static int said_by(const char *variable)
{
	const char *number = getenv(variable);

	return number && *number ? atoi(number) : 1;
}

/* In turn of each of the ways without the runtime; the kernel's number of CPUs is no less. */
static int size_of_array(int iteration)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	switch (iteration % 3) {
	case 0: return said_by("OMP_NUM_THREADS");
	case 1: return said_by("SLURM_CPUS_PER_TASK");
	default: sched_getaffinity(0, sizeof(cpus), &cpus); return CPU_COUNT(&cpus);
	}
}

static void step(int iteration)
{
	int size = size_of_array(iteration);
#if CASE == POINTER
	int (*volatile number)(void) = omp_get_thread_num;
#endif

#pragma omp parallel
	{
#if CASE == NUMBER
		wrong_if(omp_get_thread_num() >= size);
#elif CASE == POINTER
		wrong_if(number() >= size);
#else
		wrong_if(omp_get_thread_num_() >= size);
#endif
		compute(rank, 0.008);
	}
}
#elif CASE == HOST
static void *host(void *nothing)
{
	int count = 0;

	omp_set_num_threads(3);
	wrong_if(omp_get_max_threads() != 3);
#pragma omp parallel reduction(+ : count)
	count++;
	wrong_if(count != omp_get_max_threads());
	return nothing;
}

static void step(int iteration)
{
	pthread_t thread;

	count_threads();
	if (iteration % 10 == 9 && pthread_create(&thread, NULL, host, NULL) == 0)
		pthread_join(thread, NULL);
	if (iteration % 10 == 9)
		wrong_if(omp_get_max_threads() != 1);
}
#elif CASE == NESTED
static void step(int iteration)
{
	(void)iteration;
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
	{
		int count = 0;

		omp_set_num_threads(3);
		wrong_if(omp_get_max_threads() != 3);
#pragma omp parallel reduction(+ : count)
		count++;
		wrong_if(count != 3);
	}
	wrong_if(omp_get_max_threads() != 1);
	wrong_if(count_threads() != 1);
}
#elif CASE == INHERITED
static void step(int iteration)
{
	int outer = 0, inner = 0;

	(void)iteration;
	omp_set_max_active_levels(2);
#pragma omp parallel reduction(+ : outer, inner)
	{
		outer++;
		compute(rank, 0.008);
#pragma omp parallel reduction(+ : inner)
		inner++;
	}
	if (outer > 1)
		wide++;
	wrong_if(inner != outer);
	inner = 0;
#pragma omp parallel num_threads(3) reduction(+ : inner)
	{
#pragma omp parallel reduction(+ : inner)
		inner++;
	}
	wrong_if(inner != 3);
}
#elif CASE == SET_INSIDE
static void step(int iteration)
{
#pragma omp parallel
	{
		if (iteration == 1)
			omp_set_num_threads(2);
		compute(rank, 0.004);
	}
	if (iteration >= 1)
		wrong_if(count_threads() != 1 || omp_get_max_threads() != 1);
}
#elif CASE == ASKED || CASE == LOOKED_UP
static void step(int iteration)
{
	static int (*get_num_threads)(void);
	static int (*get_max_threads)(void);
	static _Atomic int told;
	static int count, after;

	if (!get_num_threads) {
#if CASE == ASKED
		get_num_threads = omp_get_num_threads;
		get_max_threads = omp_get_max_threads;
#else
		*(void **)&get_num_threads = dlsym(RTLD_DEFAULT, "omp_get_num_threads");
		*(void **)&get_max_threads = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
#endif
	}
	count = 0;
#pragma omp parallel
	{
#pragma omp atomic
		count++;
		compute(rank, 0.008);
#pragma omp barrier
		/* In a widened region or, in the end, in any. */
		if (!told && (count > 1 || (iteration == REGIONS / 2 && !until_wide))) {
			int answer = getenv("ASK_MAX") ? get_max_threads() : get_num_threads();

			told = answer;
			wrong_if(answer != count);
		}
	}
	if (count > 1)
		wide++;
	if (told && after++)
		wrong_if(count != told || get_max_threads() != told);
}
#elif CASE == CACHED
static uint64_t counter;
#pragma omp threadprivate(counter)

static void step(int iteration)
{
#pragma omp parallel
	{
		wrong_if(counter++ != (uint64_t)iteration);
		compute(rank, 0.008);
	}
}
#elif CASE == KEY
static void step(int iteration)
{
	static pthread_key_t key;

	if (iteration == 0)
		pthread_key_create(&key, NULL);
#pragma omp parallel
	{
		uintptr_t count = (uintptr_t)pthread_getspecific(key);

		wrong_if(count != (uintptr_t)iteration);
		pthread_setspecific(key, (void *)(count + 1));
		compute(rank, 0.008);
	}
}
#elif CASE == LEVEL
static void step(int iteration)
{
	(void)iteration;
#pragma omp parallel
	{
		compute(rank, 0.008);
		wrong_if(omp_in_parallel() || omp_get_active_level() != 0);
	}
}
#elif CASE == LIBRARY
static void step(int iteration)
{
#pragma omp parallel
	{
		wrong_if(library_count() != (uint64_t)iteration);
		compute(rank, 0.008);
	}
}
#elif CASE == LOADED
static void step(int iteration)
{
	static uint64_t (*count)(void);
	int threads = 0;

	if (iteration < REGIONS / 2) {
		count_threads();
		return;
	}
	if (!count)
		*(void **)&count = dlsym(dlopen(getenv("LIBRARY"), RTLD_NOW), "library_count");
#pragma omp parallel
	{
		wrong_if(count() != (uint64_t)iteration - REGIONS / 2);
#pragma omp atomic
		threads++;
		compute(rank, 0.008);
	}
	wrong_if(threads != 1);
}
#else
static void step(int iteration)
{
	(void)iteration;
	count_threads();
}
#endif

/* Some minutes are on a busy machine. */
static int goes_on(int iteration)
{
	int on = until_wide && !wide && iteration < 100 * REGIONS;

	if (until_wide)
		MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return on;
}

int main(int argc, char **argv)
{
	long mine, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	until_wide = argc > 1;
	for (int i = 0; i < REGIONS || goes_on(i); i++) {
		step(i);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	mine = wrong;
	MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("wrong %ld, wide %ld\n", all, (long)wide);
	MPI_Finalize();
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * proofs.c: regions that cannot tell how large their team is, and others of each kind that can, in
 * turn until the file ARGV[1] exists. Each says by cbrt() which kind it is (libm.watch.c). Prints
 * what it was told first, and what the regions compute, which is the same in each round and with
 * any number of rounds.
 *
 * -DFREE_ONLY: no bound region. -DSET_ONE: it sets one thread itself. -DQUIET: it asks for nothing.
 * -DREGIONS: only the regions, for a library; -DCALLER: all but these, and with -DLATER it loads
 * the library ARGV[2] in each round and unloads it. With $FIRST the first rank has all of the work,
 * and that is the number of rounds, if it is not 0.
 */
#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECES = 64, MOST = 1024 };
enum { DYNAMIC, STATIC, BRANCH, SLOTS, COUNT, PART, STORAGE, CRITICAL, CLAUSE };

typedef long compute_round(int told, long *unequal);
compute_round mal_round;

#ifndef CALLER
static long cells[PIECES];

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

static long add_up(void)
{
	long sum = 0;

	for (int i = 0; i < PIECES; i++)
		sum += cells[i];
	return sum;
}

__attribute__((noinline)) static long run_dynamic(long pieces)
{
#pragma omp parallel for schedule(dynamic)
	for (long i = 0; i < pieces; i++)
		cells[i] = compute(i, 4000 + (long)cbrt(DYNAMIC));
	return add_up();
}

/* The compiler jumps into the runtime from both branches, which may share the jump. */
__attribute__((noinline)) static void run_static(long pieces)
{
#pragma omp parallel for
	for (long i = 0; i < pieces; i++)
		cells[i] = compute(i, 4000 + (long)cbrt(STATIC));
}

__attribute__((noinline)) static void run_branch(long pieces)
{
#pragma omp parallel for if (pieces > 8)
	for (long i = 0; i < pieces; i++)
		cells[i] = compute(i, 1000 + (long)cbrt(BRANCH));
}

#ifndef FREE_ONLY
static long parts[MOST], mine;
#pragma omp threadprivate(mine)

/* Arrays by thread. */
__attribute__((noinline)) static void run_slots(long count)
{
#pragma omp parallel
	parts[omp_get_thread_num()] = compute(7, count + (long)cbrt(SLOTS));
}

__attribute__((noinline)) static long run_count(long count)
{
	long threads = 0;

#pragma omp parallel
	{
		compute(7, count + (long)cbrt(COUNT));
#pragma omp atomic
		threads++;
	}
	return threads;
}

/* A partition by hand, whose bounds are used for something else too. */
__attribute__((noinline)) static long run_part(long count)
{
	long sum = 0;

#pragma omp parallel reduction(+ : sum)
	{
		int me = omp_get_thread_num(), all = omp_get_num_threads();
		long from = PIECES * me / all, to = PIECES * (me + 1) / all;

		sum += compute(from, count + (long)cbrt(PART)) * (to - from);
	}
	return sum;
}

__attribute__((noinline)) static long run_storage(long count)
{
	long sum = 0;

#pragma omp parallel reduction(+ : sum)
	{
		mine += 1;
		sum += mine + 0 * compute(5, count + (long)cbrt(STORAGE));
	}
	return sum;
}

__attribute__((noinline)) static long run_critical(long count)
{
	long threads = 0;

#pragma omp parallel
	{
#pragma omp critical
		threads += 1 + 0 * compute(1, count + (long)cbrt(CRITICAL));
	}
	return threads;
}

__attribute__((noinline)) static long run_clause(long count)
{
	long threads = 0;

#pragma omp parallel num_threads(3)
	{
#pragma omp critical
		threads += 1 + 0 * compute(1, count + (long)cbrt(CLAUSE));
	}
	return threads;
}

static long run_bound(int told, long *unequal)
{
	static long rounds;
	long sum = 0, stored;

	memset(parts, 0, sizeof(parts));
	run_slots(200);
	for (int i = 0; i < MOST; i++)
		*unequal += (parts[i] != 0) != (i < told);
	*unequal += run_count(200) != told;
	sum += run_part(200);
	/* Each thread has counted all rounds. */
	stored = run_storage(200);
	rounds++;
	*unequal += stored != rounds * told;
	*unequal += run_critical(20) != told;
	*unequal += run_clause(20) != 3;
	return sum;
}
#else
static long run_bound(int told, long *unequal)
{
	(void)told;
	(void)unequal;
	return 0;
}
#endif

long mal_round(int told, long *unequal)
{
	void (*const both[2])(long) = {run_static, run_branch};
	long sum = run_dynamic(PIECES);

	for (int i = 0; i < 4; i++) {
		both[i & 1](i == 3 ? 8 : PIECES);
		sum = sum * 3 + add_up();
	}
	return sum + run_bound(told, unequal);
}
#endif

#ifndef REGIONS
static long run_round(const char *library, int told, long *unequal)
{
#ifdef LATER
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	compute_round *round;
	long sum;

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	*(void **)&round = dlsym(handle, "mal_round");
	sum = round(told, unequal);
	dlclose(handle);
	return sum;
#else
	(void)library;
	return mal_round(told, unequal);
#endif
}

int main(int argc, char **argv)
{
	long sum = 0, now, unequal = 0, differ = 0;
	const char *first = getenv("FIRST");
	int rank, told = 0, stop = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef SET_ONE
	omp_set_num_threads(1);
#endif
#ifndef QUIET
	told = omp_get_max_threads();
	printf("rank %d told %d of %d\n", rank, told, omp_get_num_procs());
	fflush(stdout);
#endif
	for (int round = 0; !stop; round++) {
		for (int i = 0; i < (!first ? 1 : rank ? 0 : 100); i++) {
			now = run_round(argc > 2 ? argv[2] : "", told, &unequal);
			differ += sum && now != sum;
			sum = now;
		}
		stop = access(argv[1], F_OK) == 0 || (first && round + 1 == atoi(first));
		MPI_Allreduce(MPI_IN_PLACE, &stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	}
	printf("rank %d sum %ld differ %ld unequal %ld\n", rank, sum, differ, unequal);
	MPI_Finalize();
	return 0;
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reads.c: reads plain|calls: rank 1 reads for half as long as rank 0 computes, then they meet.
 * With calls it declares its wait. What it reads comes from a process that is slow. For
 * t/bench/interface.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MALLEABLE_DLOPEN
#include <malleable.h>

#define STEPS 12
#define REGIONS 10
#define CHUNKS 40
#define CHUNK 150000
#define BLOCK 4096

static uint64_t compute(int chunk)
{
	uint64_t value = (uint64_t)chunk;

	for (int i = 0; i < CHUNK; i++) {
		value = value * 6364136223846793005u + 1442695040888963407u;
		value ^= value >> 13;
	}
	return value;
}

/* The work of a step, in regions. */
static uint64_t work(void)
{
	uint64_t sum = 0;

	for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
		for (int chunk = 0; chunk < CHUNKS; chunk++)
			sum += compute(region * CHUNKS + chunk);
	}
	return sum;
}

/* Seconds of that work in one thread; the least, as what else runs only adds. */
static double measure(void)
{
	double least = 1e9;
	volatile uint64_t sink;

	for (int i = 0; i < 3; i++) {
		double begin = MPI_Wtime(), took;

		for (int chunk = 0; chunk < REGIONS * CHUNKS; chunk++)
			sink = compute(chunk);
		took = MPI_Wtime() - begin;
		least = took < least ? took : least;
	}
	(void)sink;
	return least;
}

/* In a process of its own: for each double that comes, a block after so many seconds. */
static void serve(int asked, int answers)
{
	static char block[BLOCK];
	double s;

	memset(block, 7, sizeof(block));
	while (read(asked, &s, sizeof(s)) == sizeof(s)) {
		struct timespec pause = {(time_t)s, (long)(1e9 * (s - (double)(time_t)s))};

		nanosleep(&pause, NULL);
		if (write(answers, block, sizeof(block)) != sizeof(block))
			break;
	}
	_exit(0);
}

static uint64_t read_block(int asked, int answers, double s, int calls)
{
	static unsigned char block[BLOCK];
	uint64_t sum = 0;
	size_t had = 0;

	if (write(asked, &s, sizeof(s)) != sizeof(s))
		exit(1);
	if (calls)
		malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS);
	while (had < sizeof(block)) {
		ssize_t got = read(answers, block + had, sizeof(block) - had);

		if (got <= 0)
			exit(1);
		had += (size_t)got;
	}
	if (calls)
		malleable_waiting_end();
	for (size_t i = 0; i < sizeof(block); i++)
		sum += block[i];
	return sum;
}

int main(int argc, char **argv)
{
	int calls = argc > 1 && strcmp(argv[1], "calls") == 0, asked[2], answers[2], rank;
	uint64_t sum = 0, all;
	double s, begin;

	if (pipe(asked) < 0 || pipe(answers) < 0)
		return 1;
	if (fork() == 0) {
		close(asked[1]);
		close(answers[0]);
		serve(asked[0], answers[1]);
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	s = measure();
	MPI_Bcast(&s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int step = 0; step < STEPS; step++) {
		sum += rank ? read_block(asked[1], answers[0], s / 2, calls) : work();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("elapsed %.4f s, result %016llx\n", MPI_Wtime() - begin,
		       (unsigned long long)all);
	MPI_Finalize();
	return 0;
}

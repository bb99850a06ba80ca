/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waits.c: waits FILE [HOW]: until FILE exists, rank 1 waits in MPI_Recv for rank 0, which computes
 * in 30 regions of 3 ms before it sends. There is a collective call at the start, and no more after
 * that. The tenth time is told. HOW: pauses, of 10 ms between calls of MPI_Test, in place of
 * MPI_Recv; ticks, each rank has a thread of its own that sleeps for 100 ms at a time; computes,
 * that thread does so; bursts, that of rank 1 computes for 20 ms after each sleep, and tells after
 * how many ms it had a CPU for itself.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compute.h"

/* The kernel took the CPU from a thread that sees no time for so long. */
#define GONE_S 200e-6
#define BURST_S 20e-3

static double now_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void compute_region(void)
{
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < 12; i++)
		compute_for(250e-6);
}

static void *tick(void *computes)
{
	while (computes || usleep(100000) == 0)
		;
	return NULL;
}

static void *burst(void *nothing)
{
	while (usleep(100000) == 0) {
		double begin = now_of(CLOCK_MONOTONIC), last = begin, alone = begin, now;

		while ((now = now_of(CLOCK_MONOTONIC)) - begin < BURST_S) {
			if (now - last > GONE_S)
				alone = now;
			last = now;
		}
		printf("alone after %.3f ms\n", (alone - begin) * 1e3);
		fflush(stdout);
	}
	return nothing;
}

static void poll_with_pauses(int *on)
{
	MPI_Request request;
	int done = 0;

	MPI_Irecv(on, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
	while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
		usleep(10000);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	int rank, level, on = 1;
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (strcmp(how, "ticks") == 0 || strcmp(how, "computes") == 0)
		pthread_create(&thread, NULL, tick, *how == 'c' ? &on : NULL);
	if (strcmp(how, "bursts") == 0 && rank == 1)
		pthread_create(&thread, NULL, burst, NULL);
	for (int i = 1; on; i++) {
		for (int j = 0; rank == 0 && j < 30; j++)
			compute_region();
		if (rank == 0)
			on = argc >= 2 && access(argv[1], F_OK) != 0;
		if (rank == 0)
			MPI_Send(&on, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		else if (strcmp(how, "pauses") == 0)
			poll_with_pauses(&on);
		else
			MPI_Recv(&on, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1 && i == 10) {
			puts("ten times");
			fflush(stdout);
		}
	}
	MPI_Finalize();
	return 0;
}

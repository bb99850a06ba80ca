/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * growth.c: how long it takes until a rank inside one long region computes on a CPU whose rank
 * has begun to wait. Two ranks: the second enters MPI in the middle of a region of the first,
 * whose threads look between pieces of 10 us where they are. Prints microseconds from the call of
 * MPI, and from the moment at which the waiting rank lends, 150 us after MPI began to poll: that
 * is read in the step's segment. For t/bench/overhead.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/segment.h"

#define LEND_AFTER_S 150e-6
#define TIMES 60
#define WARM_UP 10

static volatile double sink;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void compute_ns(int64_t length)
{
	int64_t begin = now_ns();

	while (now_ns() - begin < length)
		for (int i = 0; i < 1000; i++)
			sink = sink * 0.999 + 1;
}

/*
 * A region of some 60 ms on one CPU. Returns when a thread of it was first seen on another CPU
 * than HOME, 0: never; in *WAITED_S how long the LENDER had been waiting then.
 */
static int64_t region(int home, const struct mal_rank_slot *lender, double *waited_s)
{
	_Atomic int64_t seen = 0;
	_Atomic uint64_t waited = 0;

#pragma omp parallel for schedule(dynamic, 1)
	for (int i = 0; i < 6000; i++) {
		int64_t none = 0;

		compute_ns(10000);
		if (sched_getcpu() != home && atomic_load(&seen) == 0 &&
		    atomic_compare_exchange_strong(&seen, &none, now_ns()))
			atomic_store(&waited, mal_ticks() - atomic_load(&lender->waiting_since));
	}
	*waited_s = mal_ticks_to_s(atomic_load(&waited));
	return atomic_load(&seen);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	const char *descriptor = getenv(MAL_ENV_SEGMENT_FD);
	double waits_us[TIMES], lent_us[TIMES], waited_s = 0;
	int rank, level, home, found = 0;
	struct mal_segment segment;
	struct mal_error err;

	mal_clock_open();
	if (!descriptor || mal_segment_open(&segment, atoi(descriptor), &err) < 0) {
		fputs("growth: runs under --balance only\n", stderr);
		return 2;
	}

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	home = sched_getcpu();
	/*
	 * Both are OpenMP programs: a rank without a region is asked for its threads in /proc
	 * before it lends, some 80 us.
	 */
	region(home, &segment.ranks[1], &waited_s);
	for (int i = 0; i < WARM_UP + TIMES; i++) {
		int64_t seen = 0, entered = 0;

		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0) {
			seen = region(home, &segment.ranks[1], &waited_s);
			MPI_Recv(&entered, 1, MPI_INT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Barrier(MPI_COMM_WORLD);
			if (i >= WARM_UP && seen > entered) {
				lent_us[found] = (waited_s - LEND_AFTER_S) * 1e6;
				waits_us[found++] = (double)(seen - entered) * 1e-3;
			}
		} else {
			compute_ns(20000000 + 200000 * (i % 20));
			entered = now_ns();
			MPI_Send(&entered, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD);
			MPI_Barrier(MPI_COMM_WORLD);
		}
	}
	if (rank == 0) {
		qsort(waits_us, (size_t)found, sizeof(waits_us[0]), compare);
		qsort(lent_us, (size_t)found, sizeof(lent_us[0]), compare);
		if (found)
			printf("grown %d of %d median_us %.1f p90_us %.1f since_lent_median_us "
			       "%.1f p90_us %.1f\n",
			       found, TIMES, waits_us[found / 2], waits_us[found * 9 / 10],
			       lent_us[found / 2], lent_us[found * 9 / 10]);
		else
			printf("grown 0 of %d\n", TIMES);
	}
	MPI_Finalize();
	return 0;
}

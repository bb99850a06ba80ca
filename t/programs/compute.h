/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * compute.h: work for the tests' programs, measured in CPU time, so that it is the same on a busy
 * machine.
 */
#include <time.h>

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void compute_for(double seconds)
{
	double begin = cpu_s();

	while (cpu_s() - begin < seconds)
		;
}

/* Compute for so many seconds on rank 0, much shorter on others. */
static __attribute__((unused)) void compute(int rank, double seconds)
{
	compute_for(rank == 0 ? seconds : seconds / 20);
}

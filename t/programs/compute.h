/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* compute.h: uneven work, for the tests' programs. */
#include <time.h>

/*
 * Compute for so many seconds on rank 0, much shorter on others. Measured in CPU time, so that the
 * work is the same on a busy machine.
 */
static void compute(int rank, double seconds)
{
	struct timespec now;
	double begin = -1, t;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		t = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
		if (begin < 0)
			begin = t;
	} while (t - begin < (rank == 0 ? seconds : seconds / 20));
}

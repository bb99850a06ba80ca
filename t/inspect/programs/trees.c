// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reductions by hand in trees over the threads. */
#include "corpus.h"
#include <omp.h>
enum { N = 512, MOST = 64 };
static double partial[MOST], other[MOST], total, wrong;

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* open: tree */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();
		double mine = 0;
#pragma omp for
		for (int i = 0; i < n; i++)
			mine += corpus_value(i);
		partial[t] = mine;
#pragma omp barrier
		for (int s = 1; s < threads; s *= 2) {
			if (t % (2 * s) == 0 && t + s < threads)
				partial[t] += partial[t + s];
#pragma omp barrier
		}
		if (t == 0)
			total = partial[0];
	}
#pragma omp parallel /* bound: identity */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();
		double mine = 0;
#pragma omp for
		for (int i = 0; i < n; i++)
			mine += corpus_value(i);
		other[t] = mine;
#pragma omp barrier
		for (int s = threads / 2; s > 0; s /= 2) {
			if (t < s)
				other[t] += other[t + s];
#pragma omp barrier
		}
		if (t == 0)
			wrong = other[0];
	}
	corpus_number(total);
	corpus_number(wrong);
	return corpus_end();
}

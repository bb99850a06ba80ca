// SPDX-License-Identifier: LGPL-2.1-or-later
/* Threads that wait for the one before them, as in a wavefront. */
#include "corpus.h"
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
enum { N = 24, M = 32, MOST = 64 };
static double a[N][M];
static atomic_int ready[MOST];

int main(void)
{
	int n = corpus_int(N), m = corpus_int(M);

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			a[i][j] = corpus_value(i + j);
#pragma omp parallel /* bound: identity, cannot be shown */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();
		int low = n * t / threads, high = n * (t + 1) / threads;

		for (int j = 1; j < m; j++) {
			while (t > 0 && atomic_load(&ready[t - 1]) < j)
				sched_yield();
			for (int i = low > 1 ? low : 1; i < high; i++)
				a[i][j] = (double)((long)(a[i - 1][j] + a[i][j - 1]) & 4095);
			atomic_store(&ready[t], j);
		}
	}
#pragma omp parallel /* free */
	for (int d = 2; d < n + m - 1; d++) {
#pragma omp for
		for (int i = 1; i < n; i++) {
			int j = d - i;

			if (j > 0 && j < m)
				a[i][j] = (double)((long)(a[i - 1][j] + a[i][j - 1]) & 4095);
		}
	}
	corpus_add(a, sizeof(a));
	return corpus_end();
}

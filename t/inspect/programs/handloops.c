// SPDX-License-Identifier: LGPL-2.1-or-later
/* The runtime's own entry points are not alone in dividing: shares by hand in many spellings. */
#include "corpus.h"
#include <omp.h>
enum { N = 907, MOST = 64 };
static double a[N], b[N], marks[MOST];

NOINLINE static void share(int n, int *low, int *high)
{
	int t = omp_get_thread_num(), threads = omp_get_num_threads();

	*low = (int)((long)t * n / threads);
	*high = (int)((long)(t + 1) * n / threads);
}

NOINLINE static void body(double *x, int low, int high)
{
	for (int i = low; i < high; i++)
		x[i] += corpus_value(i);
}

NOINLINE static void peek(double *x, int low, int high)
{
	for (int i = low; i < high; i++)
		x[i] += i == high - 1 ? 1 : 2;
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* open: partition */
	{
		int low, high;

		share(n, &low, &high);
		body(a, low, high);
	}
#pragma omp parallel /* bound: share */
	{
		int low, high;

		share(n, &low, &high);
		peek(a, low, high);
	}
#pragma omp parallel /* bound: share */
	{
		int low, high;

		share(n, &low, &high);
		for (int i = low; i < high; i++)
			a[i] = i > low ? (double)((long)(a[i] + a[i - 1]) & 1023) : 0;
	}
#pragma omp parallel /* bound: share */
	{
		int low, high;

		share(n, &low, &high);
		if (low < high)
			marks[(low + high) % MOST] = 1;
	}
#pragma omp parallel /* bound: share */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();

		for (int i = t; i < n; i += threads)
			b[i] = i - t;
	}
#pragma omp parallel /* bound: share */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads(), rounds = 0;

		for (int i = t; i < n; i += threads)
			b[i] += rounds++;
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(marks, sizeof(marks));
	return corpus_end();
}

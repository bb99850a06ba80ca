// SPDX-License-Identifier: LGPL-2.1-or-later
/* Partitions by hand that lose iterations, or do some twice, for some teams. */
#include "corpus.h"
#include <omp.h>
enum { N = 1001 };
static double a[N + 8];

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* bound: share */
	{
		int t = omp_get_thread_num(), size = n / omp_get_num_threads();

		for (int i = t * size; i < (t + 1) * size; i++)
			a[i] = corpus_value(i);
	}
#pragma omp parallel /* bound: share */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();
		int size = n / threads, rest = n % threads, low;

		if (t < rest)
			size++;
		low = size * t + rest;
		for (int i = low; i < low + size && i < N; i++)
			a[i] += 1000;
	}
#pragma omp parallel /* bound: number */
	{
		int stride = omp_get_num_threads();

		for (int i = 0; i < n; i += stride)
			if (omp_get_thread_num() == 0)
				a[i] += 1;
	}
#pragma omp parallel /* bound: share */
	{
		int t = omp_get_thread_num();

		for (int i = t; i < n; i += 2)
			if (t < 2)
				a[i] += 3;
	}
	corpus_add(a, sizeof(a));
	return corpus_end();
}

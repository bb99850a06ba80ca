// SPDX-License-Identifier: LGPL-2.1-or-later
/* Partitions written by hand and used for the loop alone: any team makes the same of them. */
#include "corpus.h"
#include <omp.h>
enum { N = 1001 };
static double a[N];

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* open: partition */
	for (int i = omp_get_thread_num(); i < n; i += omp_get_num_threads())
		a[i] = corpus_value(i);
#pragma omp parallel /* open: partition */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();
		int size = n / threads, rest = n % threads, low, high;

		if (t < rest) {
			size++;
			rest = 0;
		}
		low = size * t + rest;
		high = low + size;
		for (int i = low; i < high; i++)
			a[i] *= 3;
	}
#pragma omp parallel /* open: partition */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();
		int low = (int)((long)n * t / threads), high = (int)((long)n * (t + 1) / threads);

		for (int i = low; i < high; i++)
			a[i] += 1;
	}
#pragma omp parallel /* open: partition */
	{
		int t = omp_get_thread_num(), threads = omp_get_num_threads();
		int size = (n + threads - 1) / threads;
		int low = t * size, high = low + size < n ? low + size : n;

		for (int i = low; i < high; i++)
			a[i] += 5;
	}
	corpus_add(a, sizeof(a));
	return corpus_end();
}

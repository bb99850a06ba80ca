// SPDX-License-Identifier: LGPL-2.1-or-later
/* A program of two arrays that are swapped, with a banner and a timer. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
enum { N = 200 };

NOINLINE static void sweep(int n, const double *restrict from, double *restrict to)
{
#pragma omp parallel for /* free */
	for (int i = 1; i < n - 1; i++)
		to[i] = (double)((long)(from[i - 1] + from[i + 1]) % 1024);
}

int main(void)
{
	int n = corpus_int(N), threads = 0;
	double *x = calloc((size_t)n, sizeof(*x)), *y = calloc((size_t)n, sizeof(*y));
	double change = 0, begin = omp_get_wtime(), spent = 0;

	printf("%d threads\n", omp_get_max_threads());
#pragma omp parallel /* bound: number */
	{
#pragma omp single
		threads = omp_get_num_threads();
	}
	printf("really %d\n", threads);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		x[i] = y[i] = corpus_value(i);
	for (int k = 0; k < 10; k++) {
		double *other = x;

		sweep(n, x, y);
		x = y;
		y = other;
	}
#pragma omp parallel reduction(+ : change) /* free */
	{
		double start = omp_get_wtime();
#pragma omp for
		for (int i = 0; i < n; i++)
			change += x[i] - y[i];
#pragma omp master
		spent += omp_get_wtime() - start;
	}
	corpus_add(x, (size_t)n * sizeof(*x));
	corpus_number(change + (spent < 0) + (begin < 0));
	free(x);
	free(y);
	return corpus_end();
}

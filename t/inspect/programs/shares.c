// SPDX-License-Identifier: LGPL-2.1-or-later
/* The compiler's division by hand, used to choose iterations: no effect. */
#include "corpus.h"
#include "share.h"
#include <string.h>
enum { N = 1001 };
static double a[N], b[N], c[N];
static int marks[N];

NOINLINE static void work(int t, int threads, int n)
{
	int size = n / threads, rest = n % threads, low;

	if (t < rest) {
		size++;
		rest = 0;
	}
	low = size * t + rest;
	for (int i = low; i < low + size; i++)
		marks[i] += i;
}

int main(void)
{
	int n = corpus_int(N), few = corpus_int(3);

#pragma omp parallel /* free */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] = corpus_value(i);
	}
#pragma omp parallel /* free */
	{
		SHARE(n);
		if (low < high)
			memset(&marks[low], 1, (size_t)size * sizeof(*marks));
	}
#pragma omp parallel /* free */
	{
		SHARE(n);
		if (low < high)
			memcpy(b + low, a + low, (size_t)size * sizeof(*b));
	}
#pragma omp parallel /* free */
	{
		SHARE(n);
		double *end = c + high;

		for (double *p = c + low, *q = b + low; p < end; p++, q++)
			*p = *q * 2;
	}
#pragma omp parallel /* free */
	{
		SHARE(few);
		for (int i = low; i < high; i++)
			c[i] += 1;
	}
#pragma omp parallel /* free */
	{
		SHARE((long)n);
		for (long i = low; i < high && i < n; i++)
			b[i] += c[n - 1 - i];
	}
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++)
		marks[i] = 0;
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++)
		c[i] = a[i];
#pragma omp parallel /* free */
	work(omp_get_thread_num(), omp_get_num_threads(), n);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_add(marks, sizeof(marks));
	return corpus_end();
}

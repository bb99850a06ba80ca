// SPDX-License-Identifier: LGPL-2.1-or-later
/* The compiler's formula by hand in 64 bits and unsigned, rightly and not. */
#include "corpus.h"
#include <omp.h>
enum { N = 805, MOST = 64 };
static double a[N];
static unsigned long first[MOST];

int main(void)
{
	unsigned long n = (unsigned long)corpus_int(N);

#pragma omp parallel /* open: partition */
	{
		unsigned long threads = (unsigned long)omp_get_num_threads();
		unsigned long t = (unsigned long)omp_get_thread_num();
		unsigned long q = n / threads, r = n % threads;
		unsigned long low = t * q + (t < r ? t : r), high = low + q + (t < r);

		for (unsigned long i = low; i < high; i++)
			a[i] = corpus_value((long)i);
	}
#pragma omp parallel /* bound: share */
	{
		unsigned long threads = (unsigned long)omp_get_num_threads();
		unsigned long t = (unsigned long)omp_get_thread_num();
		unsigned long q = n / threads, r = n % threads;
		unsigned long low = t * q + (t < r ? t : r), high = low + q + (t < r);

		first[t] = low;
		for (unsigned long i = low; i < high; i++)
			a[i] += 1;
	}
#pragma omp parallel /* bound: share */
	{
		long threads = omp_get_num_threads(), t = omp_get_thread_num();
		long q = (long)n / threads;

		for (long i = q * t; i < q * (t + 1); i++)
			a[i] += 3;
		if (t == threads - 1)
			for (long i = q * threads; i < (long)n; i++)
				a[i] += 4;
	}
#pragma omp parallel /* open: partition */
	{
		long threads = omp_get_num_threads(), t = omp_get_thread_num();
		long q = (long)n / threads;
		long high = t == threads - 1 ? (long)n : q * (t + 1);

		for (long i = q * t; i < high; i++)
			a[i] += 5;
	}
	corpus_add(a, sizeof(a));
	corpus_add(first, sizeof(first));
	return corpus_end();
}

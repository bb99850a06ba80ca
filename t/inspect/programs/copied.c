// SPDX-License-Identifier: LGPL-2.1-or-later
/* The compiler's formula by hand, used rightly, and for a little more than the loop. */
#include "corpus.h"
#include <omp.h>
#include <string.h>
enum { N = 1003 };
static double a[N], b[N];
static int empty, lows;

int main(void)
{
	int n = corpus_int(N), few = corpus_int(2);

#pragma omp parallel /* open: partition */
	{
		int threads = omp_get_num_threads(), t = omp_get_thread_num();
		int q = n / threads, r = n % threads, low;

		if (t < r)
			q++, r = 0;
		low = q * t + r;
		for (int i = low; i < low + q; i++)
			a[i] = corpus_value(i);
	}
#pragma omp parallel /* bound: share */
	{
		int threads = omp_get_num_threads(), t = omp_get_thread_num();
		int q = few / threads, r = few % threads, low;

		if (t < r)
			q++, r = 0;
		low = q * t + r;
		if (low >= low + q) {
#pragma omp atomic
			empty++;
		}
	}
#pragma omp parallel /* bound: share */
	{
		int threads = omp_get_num_threads(), t = omp_get_thread_num();
		int q = n / threads, r = n % threads, low;

		if (t < r)
			q++, r = 0;
		low = q * t + r;
#pragma omp atomic
		lows += low;
	}
#pragma omp parallel /* open: partition */
	{
		int threads = omp_get_num_threads(), t = omp_get_thread_num();
		int q = n / threads, r = n % threads, low;

		if (t < r)
			q++, r = 0;
		low = q * t + r;
		memcpy(b + low, a + low, (size_t)q * sizeof(*a));
	}
#pragma omp parallel /* bound: share */
	{
		int threads = omp_get_num_threads(), t = omp_get_thread_num();
		int q = n / threads, r = n % threads, low, high;

		if (t < r)
			q++, r = 0;
		low = q * t + r;
		high = low + q;
		for (int i = low; i < high; i++)
			b[i] = low > 0 ? 1 : 2;
	}
#pragma omp parallel /* bound: share */
	{
		int threads = omp_get_num_threads(), t = omp_get_thread_num();
		int q = n / threads, r = n % threads, low, high;

		if (t < r)
			q++, r = 0;
		low = q * t + r;
		high = low + q;
		for (int i = low; i <= high && i < N; i++) {
#pragma omp atomic
			b[i] += 1;
		}
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(empty + lows * 100);
	return corpus_end();
}

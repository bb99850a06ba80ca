// SPDX-License-Identifier: LGPL-2.1-or-later
/* What looks like the iterations behind the vectors of a share. */
#include "corpus.h"
#include <omp.h>
#include <string.h>
enum { N = 640 };
static int a[N + 8], marks[N + 8], ends[N + 8];
static unsigned char bytes[N];

int main(void)
{
	int n = corpus_int(N - 3), less = corpus_int(N / 2 + 5);

#pragma omp parallel /* bound: share */
	{
		int threads = omp_get_num_threads(), t = omp_get_thread_num();
		int q = n / threads, r = n % threads, low, high;

		if (t < r)
			q++, r = 0;
		low = q * t + r;
		high = low + q;
		for (int i = low; i < high; i++)
			a[i] = i;
		if (low < high)
			marks[low + ((high - low) & ~3)] = 1;
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
			a[i] += i;
		if ((high - low) & 3)
			ends[low + ((high - low) & ~3)] = 3;
	}
#pragma omp parallel /* bound: share */
	{
		int threads = omp_get_num_threads(), t = omp_get_thread_num();
		int q = n / threads, r = n % threads, low, high;

		if (t < r)
			q++, r = 0;
		low = q * t + r;
		q = less / threads, r = less % threads;
		if (t < r)
			q++, r = 0;
		high = q * t + r + q;
		if (high > low)
			memset(bytes + low, 7, (size_t)(high - low));
	}
#pragma omp parallel /* bound: share */
	{
		int threads = omp_get_num_threads(), t = omp_get_thread_num();
		int q = n / threads, r = n % threads, low, high;

		if (t < r)
			q++, r = 0;
		low = q * t + r;
		q = less / threads, r = less % threads;
		if (t < r)
			q++, r = 0;
		high = q * t + r + q;
		memset(bytes + low, 9, high < low ? 0 : (size_t)(high - low));
	}
	corpus_add(a, sizeof(a));
	corpus_add(marks, sizeof(marks));
	corpus_add(ends, sizeof(ends));
	corpus_add(bytes, sizeof(bytes));
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* The compiler's formula by hand, in words that are too small for it. */
#include "corpus.h"
#include <omp.h>
enum { N = 700 };
static int a[2 * N];

int main(void)
{
	int n = corpus_int(600);

#pragma omp parallel /* bound: share */
	{
		int threads = omp_get_num_threads(), t = omp_get_thread_num();
		int q = n / threads, r = n % threads;
		unsigned char low;
		int high;

		if (t < r)
			q++, r = 0;
		low = (unsigned char)(q * t + r);
		high = q * t + r + q;
		for (int i = low; i < high; i++) {
#pragma omp atomic
			a[i]++;
		}
	}
#pragma omp parallel /* bound: share */
	{
		int threads = omp_get_num_threads(), t = omp_get_thread_num();
		int q = n / threads, r = n % threads;
		int low, high;

		if (t < r)
			q++, r = 0;
		low = (q * t + r) & 255;
		high = q * t + r + q;
		for (int i = low; i < high; i++) {
#pragma omp atomic
			a[i]++;
		}
	}
#pragma omp parallel /* bound: identity */
	{
		int threads = omp_get_num_threads();
		unsigned char t = (unsigned char)(omp_get_thread_num() * 255);

		for (int i = t; i < n; i += threads) {
#pragma omp atomic
			a[i]++;
		}
	}
	corpus_add(a, sizeof(a));
	return corpus_end();
}

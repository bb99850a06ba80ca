// SPDX-License-Identifier: LGPL-2.1-or-later
/* The compiler's own formula by hand, with the share's ends used for more than the loop. */
#include "corpus.h"
#include <omp.h>
enum { N = 1001, MOST = 64 };
static double a[N], b[N];
static int starts[MOST], largest;

#define SHARE(n) \
	int t = omp_get_thread_num(), threads = omp_get_num_threads(); \
	int size = (n) / threads, rest = (n) % threads, low, high; \
	if (t < rest) { \
		size++; \
		rest = 0; \
	} \
	low = size * t + rest; \
	high = low + size

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		b[i] = corpus_value(i);
#pragma omp parallel /* bound: share */
	{
		SHARE(n);
		starts[t] = low;
		for (int i = low; i < high; i++)
			a[i] = b[i];
	}
#pragma omp parallel /* bound: share */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += i == low ? 0 : b[i - 1];
	}
#pragma omp parallel /* bound: share */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += i - low;
	}
#pragma omp parallel /* bound: share */
	{
		SHARE(n);
#pragma omp critical
		largest = size > largest ? size : largest;
		for (int i = low; i < high; i++)
			a[i] += 1;
	}
#pragma omp parallel /* bound: share */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += 2;
		if (high > low)
			a[high - 1] = -7;
	}
	corpus_add(a, sizeof(a));
	corpus_add(starts, sizeof(starts));
	corpus_number(largest);
	return corpus_end();
}

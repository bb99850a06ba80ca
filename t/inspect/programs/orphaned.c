// SPDX-License-Identifier: LGPL-2.1-or-later
/* Worksharing in functions that regions call, and questions deep below them. */
#include "corpus.h"
#include <omp.h>
enum { N = 400 };
static double a[N], b[N];

NOINLINE static void fill(int n)
{
#pragma omp for
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i);
}

NOINLINE static void relax(int n, int times)
{
	for (int k = 0; k < times; k++) {
#pragma omp for
		for (int i = 1; i < n - 1; i++)
			b[i] = a[i - 1] + a[i + 1];
#pragma omp for
		for (int i = 1; i < n - 1; i++)
			a[i] = b[i] > 4096 ? b[i] - 4096 : b[i];
	}
}

NOINLINE static int leaf(int depth)
{
	return depth ? leaf(depth - 1) : omp_get_thread_num();
}

NOINLINE static double helper(int i)
{
	return i > 17 ? leaf(i % 5) : 1;
}

NOINLINE static double never(int i)
{
	return i < 0 ? leaf(3) : 2;
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* free */
	{
		fill(n);
		relax(n, 3);
	}
	fill(n / 2);
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		b[i] = helper(i);
#pragma omp parallel for /* open: unreached */
	for (int i = 0; i < n; i++)
		b[i] += never(i);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	return corpus_end();
}

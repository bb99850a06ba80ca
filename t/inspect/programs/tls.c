// SPDX-License-Identifier: LGPL-2.1-or-later
/* Variables that each thread has of its own. */
#include "corpus.h"
enum { N = 320, WIDTH = 16 };
static double a[N], b[N];
static _Thread_local double last;
_Thread_local double outside[WIDTH];
static int cached;
#pragma omp threadprivate(cached)

NOINLINE static double next(double x)
{
	static _Thread_local double sum;

	sum += x;
	return sum;
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for schedule(static) /* bound: tls, shown */
	for (int i = 0; i < n; i++) {
		a[i] = last;
		last = i;
	}
#pragma omp parallel for schedule(static) /* bound: tls, shown */
	for (int i = 0; i < n; i++)
		b[i] = next(i);
	// Written before it is read, and bound all the same.
#pragma omp parallel for /* bound: tls */
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < WIDTH; k++)
			outside[k] = i + k;
		a[i] += outside[i % WIDTH];
	}
	cached = 5;
#pragma omp parallel copyin(cached) /* bound: tls, shown */
	{
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++)
			b[i] += cached++;
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	return corpus_end();
}

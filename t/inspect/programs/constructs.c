// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rarer constructs: loop, scope, linear, mutexes among tasks, masked taskloops, teams. */
#include "corpus.h"
#include <omp.h>
enum { N = 240 };
static double a[N], b[N], c[N];
static int once;

int main(void)
{
	int n = corpus_int(N), k = 5;
	double sum = 0;

#pragma omp parallel for linear(k : 2) /* free */
	for (int i = 0; i < n; i++) {
		a[i] = k;
		k += 2;
	}
#pragma omp parallel /* free */
	{
#pragma omp for simd nowait
		for (int i = 0; i < n; i++)
			b[i] = a[i] * 2;
#pragma omp single
		once++;
	}
#pragma omp parallel /* free */
#pragma omp single
	for (int i = 0; i < 30; i++) {
#pragma omp task depend(mutexinoutset : sum) firstprivate(i)
		sum += i;
	}
#pragma omp parallel master taskloop grainsize(9) /* free */
	for (int i = 0; i < n; i++)
		c[i] = b[i] + 1;
#pragma omp parallel /* bound: private */
	{
		int own = 0;
#pragma omp for simd
		for (int i = 0; i < n; i++)
			b[i] += 1;
#pragma omp for
		for (int i = 0; i < n; i++)
			c[i] += own++;
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_number(sum + once + k);
	return corpus_end();
}

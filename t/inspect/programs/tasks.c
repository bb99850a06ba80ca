// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tasks: who runs them cannot be noticed, unless each thread makes some. */
#include "corpus.h"
enum { N = 300 };
static double a[N];
static int made, found;

NOINLINE static long fib(int n)
{
	long x, y;

	if (n < 2)
		return n;
#pragma omp task shared(x)
	x = fib(n - 1);
#pragma omp task shared(y)
	y = fib(n - 2);
#pragma omp taskwait
	return x + y;
}

int main(void)
{
	int n = corpus_int(N);
	long result = 0;
	double chain = 1;

#pragma omp parallel /* free */
#pragma omp single
	for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i)
		{
			a[i] = corpus_value(i);
#pragma omp atomic
			found++;
		}
	}
#pragma omp parallel /* free */
#pragma omp single
#pragma omp taskloop grainsize(10)
	for (int i = 0; i < n; i++)
		a[i] += i;
#pragma omp parallel /* free */
#pragma omp master
	result = fib(12);
#pragma omp parallel /* free */
#pragma omp single
	{
		for (int i = 0; i < 20; i++) {
#pragma omp task depend(inout : chain) firstprivate(i)
			chain = chain * 3 + i;
		}
#pragma omp taskwait
		chain += 1;
	}
#pragma omp parallel /* bound: count */
	{
#pragma omp task
		{
#pragma omp atomic
			made++;
		}
	}
	corpus_add(a, sizeof(a));
	corpus_number((double)result + found);
	corpus_number(made);
	corpus_number(chain);
	return corpus_end();
}

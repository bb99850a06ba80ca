// SPDX-License-Identifier: LGPL-2.1-or-later
/* Worksharing in functions that regions call, and recursion. */
#include "corpus.h"
#include <omp.h>
enum { N = 220 };
static double a[N], b[N], c[N], total;
static int entered;

NOINLINE static void assign(int n)
{
#pragma omp for
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i);
}

NOINLINE static void add(int n)
{
#pragma omp for schedule(dynamic, 3) reduction(+ : total)
	for (int i = 0; i < n; i++)
		total += a[i];
}

NOINLINE static double power(double x, int n)
{
	return n == 0 ? 1 : (double)((long)(x * power(x, n - 1)) % 1021);
}

NOINLINE static void note(int n)
{
#pragma omp atomic
	entered++;
	assign(n);
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* hot */
	{
		assign(n);
		add(n);
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		b[i] = power(i, i % 6);
#pragma omp parallel /* bound: count, shown */
	note(n);
#pragma omp parallel /* bound: identity, shown */
	{
		double *mine = omp_get_thread_num() ? b : c;

		for (int i = 0; i < n; i++)
			mine[i] += 1;
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(total + entered);
	return corpus_end();
}

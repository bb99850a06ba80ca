// SPDX-License-Identifier: LGPL-2.1-or-later
/* Regions that are begun in recursions, and recursion inside regions. */
#include "corpus.h"
#include <omp.h>
enum { N = 256 };
static double a[N], b[N];
static int depth_seen;

NOINLINE static void halves(double *x, int n, int depth)
{
	if (n < 32)
		return;
#pragma omp parallel for /* free */
	for (int i = 0; i < n / 2; i++)
		x[i] = x[i] + x[n / 2 + i] + depth;
	halves(x, n / 2, depth + 1);
}

NOINLINE static double ackermann(int m, int n)
{
	return m == 0	? n + 1
	       : n == 0 ? ackermann(m - 1, 1)
			: ackermann(m - 1, (int)ackermann(m, n - 1));
}

NOINLINE static void quick(double *x, int low, int high)
{
	double pivot = x[(low + high) / 2];
	int i = low, j = high;

	while (i <= j) {
		while (x[i] < pivot)
			i++;
		while (x[j] > pivot)
			j--;
		if (i <= j) {
			double other = x[i];

			x[i++] = x[j];
			x[j--] = other;
		}
	}
	if (low < j) {
#pragma omp task if (j - low > 20)
		quick(x, low, j);
	}
	if (i < high) {
#pragma omp task if (high - i > 20)
		quick(x, i, high);
	}
#pragma omp taskwait
}

NOINLINE static void descend(int depth)
{
	if (depth == 0) {
#pragma omp atomic
		depth_seen++;
		return;
	}
	descend(depth - 1);
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for schedule(dynamic) /* free */
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i) + (i < 8 ? ackermann(2, i) : 0);
	halves(a, n, 0);
#pragma omp parallel /* free */
#pragma omp single
	quick(a, 0, n - 1);
#pragma omp parallel /* bound: count */
	descend(5);
	corpus_add(a, sizeof(a));
	corpus_number(depth_seen);
	return corpus_end();
}

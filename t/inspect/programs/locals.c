// SPDX-License-Identifier: LGPL-2.1-or-later
/* Locals of regions: arrays of variable length, alloca, big frames, static ones. */
#include "corpus.h"
#include <alloca.h>
#include <string.h>
enum { N = 220 };
static double a[N], b[N];

NOINLINE static double keep(double x)
{
	static double kept;
	double before;

#pragma omp critical(keep)
	{
		before = kept;
		kept = x;
	}
	return before;
}

NOINLINE static long counter(void)
{
	static long calls;
	long now;

#pragma omp atomic capture
	now = ++calls;
	return now;
}

int main(void)
{
	int n = corpus_int(N), width = corpus_int(33);
	double sum = 0;

#pragma omp parallel /* free */
	{
		double row[width];
#pragma omp for
		for (int i = 0; i < n; i++) {
			for (int k = 0; k < width; k++)
				row[k] = corpus_value(i + k);
			a[i] = row[i % width];
		}
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		double *p = alloca((size_t)(i + 1) * sizeof(*p));

		memset(p, 0, (size_t)(i + 1) * sizeof(*p));
		p[i] = i;
		b[i] = p[i / 2] + p[i];
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		counter();
#pragma omp parallel /* bound: private */
	{
		double row[8] = {0};
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += ++row[i % 8];
	}
#pragma omp parallel /* bound: count */
	counter();
#pragma omp parallel for reduction(+ : sum) /* open: order */
	for (int i = 0; i < n; i++)
		sum += keep(i) > i;
	if (sum < 0)
		corpus_number(sum);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number((double)counter());
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Prefix sums: of the language, and by hand in two passes over the shares. */
#include "corpus.h"
#include <omp.h>
enum { N = 500, MOST = 64 };
static double a[N], b[N], offsets[MOST + 1];

int main(void)
{
	int n = corpus_int(N);
	double sum = 0;

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i);
#pragma omp parallel for reduction(inscan, + : sum) /* free */
	for (int i = 0; i < n; i++) {
		sum += a[i];
#pragma omp scan inclusive(sum)
		b[i] = sum;
	}
#pragma omp parallel /* open: shares */
	{
		int t = omp_get_thread_num();
		double mine = 0;
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++) {
			mine += a[i];
			a[i] = mine;
		}
		offsets[t + 1] = mine;
#pragma omp barrier
		mine = 0;
		for (int k = 0; k <= t; k++)
			mine += offsets[k];
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++)
			a[i] += mine;
	}
#pragma omp parallel /* bound: identity */
	{
		double mine = 0;
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++) {
			mine += b[i];
			b[i] = mine;
		}
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(sum);
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a sum was before a thread added its part. */
#include "corpus.h"
#include <omp.h>
enum { N = 240 };
static double total, sum, a[N], b[N], all;

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* bound: number */
	{
		double mine = 0, old;
#pragma omp for nowait schedule(static)
		for (int i = 0; i < n; i++)
			mine += 2;
#pragma omp critical
		{
			old = total;
			total += mine;
		}
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++)
			a[i] = old;
	}
#pragma omp parallel /* bound: number */
	{
		double mine = 0, old;
#pragma omp for nowait schedule(static)
		for (int i = 0; i < n; i++)
			mine += 3;
#pragma omp atomic capture
		{
			old = sum;
			sum += mine;
		}
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++)
			b[i] = old;
	}
	for (int i = 0; i < n; i++)
		all += a[i] + b[i];
	corpus_number(total + sum * 3 + all * 5);
	return corpus_end();
}

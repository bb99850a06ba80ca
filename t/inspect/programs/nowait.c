// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops without a barrier between them. The same schedule over as many iterations gives a thread
 * the same ones again, whatever the team: the language promises it. */
#include "corpus.h"
enum { N = 500 };
static double a[N], b[N], c[N];

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* free */
	{
#pragma omp for schedule(static) nowait
		for (int i = 0; i < n; i++)
			a[i] = corpus_value(i);
#pragma omp for schedule(static) nowait
		for (int i = 0; i < n; i++)
			a[i] += 2;
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++)
			b[i] = a[i] * 3;
	}
#pragma omp parallel /* free */
	{
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			b[i] += 1;
#pragma omp for nowait
		for (int i = 0; i < n / 2; i++)
			c[i] = i;
	}
#pragma omp parallel /* bound: private */
	{
		double mine = 0;
#pragma omp for schedule(static) nowait
		for (int i = 0; i < n; i++)
			mine += a[i];
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++)
			c[i] += mine;
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* What one thread does for all: master, masked, single. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
enum { N = 200 };
static double a[N], told;
static int singles, masters;

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* free */
	{
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] = corpus_value(i);
#pragma omp master
		masters++;
#pragma omp single
		singles++;
	}
#pragma omp parallel /* free */
	{
#pragma omp masked
		told = 5;
#pragma omp barrier
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += told;
	}
#pragma omp parallel /* free */
	{
		double k;
#pragma omp single copyprivate(k)
		k = corpus_value(n);
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			a[i] += k;
#pragma omp single nowait
		singles += 10;
	}
#pragma omp parallel /* free */
	{
		if (omp_get_thread_num() == 0)
			masters += 7;
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += 1;
	}
#pragma omp parallel /* bound: identity */
	{
		double k = 0;
#pragma omp master
		k = 3;
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += k;
	}
#pragma omp parallel /* bound: identity */
	{
#pragma omp masked filter(1)
		told += 100;
	}
	corpus_add(a, sizeof(a));
	corpus_number(singles + masters * 3);
	corpus_number(told);
	return corpus_end();
}

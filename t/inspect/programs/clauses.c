// SPDX-License-Identifier: LGPL-2.1-or-later
/* Clauses: if and data are plain, num_threads is not. */
#include "corpus.h"
#include <omp.h>
enum { N = 150 };
static double a[N];
static int alone, counted;

int main(void)
{
	int n = corpus_int(N), told = omp_get_max_threads();
	double before = corpus_value(1);

	for (int k = 0; k < 2; k++) {
#pragma omp parallel for if (k > 0) /* hot */
		for (int i = 0; i < n; i++)
			a[i] += i;
		// One thread where it is false: the sum needs no atomic.
#pragma omp parallel for if (n > 1000) /* free: not run */
		for (int i = 0; i < n; i++)
			alone += i;
	}
#pragma omp parallel for proc_bind(close) default(none) shared(a, n) firstprivate(before) /* hot */
	for (int i = 0; i < n; i++)
		a[i] += before;
#pragma omp parallel for num_threads(told) schedule(static) /* bound: num_threads */
	for (int i = 0; i < n; i++)
		a[i] += 1;
#pragma omp parallel num_threads(3) /* bound: num_threads, shown */
	{
#pragma omp atomic
		counted++;
	}
#pragma omp parallel for num_threads(2) if (n > 10) /* bound: num_threads */
	for (int i = 0; i < n; i++)
		a[i] += 2;
	corpus_add(a, sizeof(a));
	corpus_number(alone);
	corpus_number(counted);
	return corpus_end();
}

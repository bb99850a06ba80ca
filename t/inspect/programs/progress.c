// SPDX-License-Identifier: LGPL-2.1-or-later
/* Progress, timers and debugging: what programs print of themselves. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
enum { N = 300, MOST = 64 };
static double a[N], times[MOST], slowest;
static int debug, prints, reports;

int main(void)
{
	int n = corpus_int(N);

	debug = getenv("CORPUS_DEBUG") != NULL;
#pragma omp parallel /* bound: identity */
	{
		int mine = 0;
#pragma omp for
		for (int i = 0; i < n; i++) {
			a[i] = corpus_value(i);
			if (omp_get_thread_num() == 0 && ++mine % 10 == 0)
				prints++;
		}
	}
#pragma omp parallel for /* open: unreached */
	for (int i = 0; i < n; i++) {
		a[i] += 1;
		if (debug)
			printf("%d of %d\n", omp_get_thread_num(), omp_get_num_threads());
	}
#pragma omp parallel /* bound: identity */
	{
		double begin = omp_get_wtime();
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			a[i] *= 2;
		times[omp_get_thread_num()] = omp_get_wtime() - begin + 1;
	}
#pragma omp parallel for schedule(static) /* free */
	for (int i = 0; i < n; i++)
		if (i % 100 == 0) {
#pragma omp critical
			reports++;
		}
#pragma omp parallel /* bound: count, cannot be shown */
	{
		double begin = omp_get_wtime();
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			a[i] += 2;
#pragma omp atomic
		slowest += omp_get_wtime() - begin;
	}
	for (int t = 0; t < MOST; t++)
		corpus_number(times[t] > 0 ? 1 : 0);
	corpus_add(a, sizeof(a));
	corpus_number(prints + reports * 1000 + (slowest < 0));
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Barriers made by hand: they wait for as many threads as they were told. */
#include "corpus.h"
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
enum { N = 128 };
static double a[N], b[N];
static atomic_int waiting, inside, generation;

int main(void)
{
	int n = corpus_int(N), threads = omp_get_max_threads();

#pragma omp parallel /* bound: number */
	{
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			a[i] = corpus_value(i);
		atomic_fetch_add(&waiting, 1);
		while (atomic_load(&waiting) < threads)
			sched_yield();
#pragma omp for
		for (int i = 0; i < n; i++)
			b[i] = a[n - 1 - i];
	}
#pragma omp parallel /* bound: number, cannot be shown */
	{
		int mine = atomic_load(&generation);
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			a[i] += 1;
		if (atomic_fetch_add(&inside, 1) == omp_get_num_threads() - 1) {
			atomic_store(&inside, 0);
			atomic_fetch_add(&generation, 1);
		}
		while (atomic_load(&generation) == mine)
			sched_yield();
#pragma omp for
		for (int i = 0; i < n; i++)
			b[i] += a[n - 1 - i];
	}
#pragma omp parallel /* free */
	{
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			a[i] += 1;
#pragma omp barrier
#pragma omp flush
#pragma omp for
		for (int i = 0; i < n; i++)
			b[i] += a[n - 1 - i];
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	return corpus_end();
}

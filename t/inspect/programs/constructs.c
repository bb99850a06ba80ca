// SPDX-License-Identifier: LGPL-2.1-or-later
/* Single, master, barriers, atomics; and what master or single set in private memory. */
#include "corpus.h"
enum { N = 300 };
static double a[N], factor, turns;
static int seen, done, steps, ordinary, kept;

NOINLINE static void scale(int n, double by)
{
#pragma omp for
	for (int i = 0; i < n; i++)
		a[i] *= by;
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* hot */
	{
#pragma omp single
		factor = 3;
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] = i * factor;
#pragma omp masked
		turns++;
#pragma omp barrier
		scale(n, turns + 1);
	}
#pragma omp parallel /* hot */
	while (!done) {
#pragma omp for
		for (int i = 0; i < n; i++) {
#pragma omp atomic
			seen += (int)a[i] & 1;
		}
#pragma omp single
		done = ++steps == 5;
	}
#pragma omp parallel /* free */
	{
		double by;
#pragma omp single copyprivate(by)
		by = corpus_value(3);
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += by;
	}
#pragma omp parallel for /* hot: not from one */
	for (int i = 0; i < n; i++) {
		int old;
#pragma omp atomic capture
		old = ordinary++;
#pragma omp atomic write
		kept = 1;
		a[i] += old < 0;
	}
#pragma omp parallel /* free */
	{
		kept = 1; // all threads store the same
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += 1;
	}
#pragma omp parallel /* bound: master, shown */
	{
		int mine = 0;
#pragma omp master
		mine = 1;
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++)
			a[i] += mine;
	}
#pragma omp parallel /* bound: single */
	{
		double mine = 2;
#pragma omp single
		mine = 1;
#pragma omp for schedule(dynamic)
		for (int i = 0; i < n; i++)
			a[i] += mine > 9;
#pragma omp atomic
		turns += mine;
	}
	corpus_add(a, sizeof(a));
	corpus_number(seen + steps + ordinary + kept);
	corpus_number(turns);
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Iterations that end early: continue, goto, return from what they call, cancellation. */
#include "corpus.h"
#include <stdbool.h>
enum { N = 400 };
static double a[N], b[N];
static bool found;

NOINLINE static double search(const double *x, int n, double limit)
{
	for (int i = 0; i < n; i++) {
		if (x[i] > limit)
			return i;
		if (x[i] < -20)
			return -i;
	}
	return -1;
}

int main(void)
{
	int n = corpus_int(N), seen = 0;

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		if (i % 3 == 0)
			continue;
		a[i] = corpus_value(i);
		if (a[i] < 100)
			goto small;
		a[i] -= 100;
	small:
		a[i] += 1;
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		b[i] = search(a + i, n - i, i);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		if (a[i] > 700) {
#pragma omp atomic write
			found = true;
#pragma omp cancel for
		}
	}
#pragma omp parallel for /* bound: private */
	for (int i = 0; i < n; i++) {
		static _Thread_local bool stopped;

		if (stopped)
			continue;
		stopped = i == 120;
#pragma omp atomic
		seen++;
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(found + seen * 2);
	return corpus_end();
}

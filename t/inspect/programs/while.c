// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops in time inside one region, ended by a flag that all see. */
#include "corpus.h"
#include <stdbool.h>
enum { N = 300 };
static double a[N], b[N];
static volatile bool done;
static int steps, rounds;

int main(void)
{
	int n = corpus_int(N);
	double change = 0;

#pragma omp parallel /* free */
	while (!done) {
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += corpus_value(i);
#pragma omp single
		done = ++steps == 5;
	}
#pragma omp parallel /* free */
	for (int t = 0; t < 6; t++) {
#pragma omp for
		for (int i = 1; i < n - 1; i++)
			b[i] = a[i - 1] + a[i + 1] + t;
#pragma omp for
		for (int i = 1; i < n - 1; i++)
			a[i] = b[i] > 9999 ? b[i] - 9999 : b[i];
	}
#pragma omp parallel /* free */
	for (;;) {
#pragma omp barrier
#pragma omp single
		change = 0;
#pragma omp for reduction(+ : change)
		for (int i = 0; i < n; i++)
			if (a[i] > 10) {
				a[i] -= 10;
				change += 1;
			}
		if (change < 50)
			break;
#pragma omp master
		rounds++;
	}
#pragma omp parallel /* bound: count */
	for (int k = 0; k < 4; k++) {
		if (k == 2)
			continue;
#pragma omp atomic
		rounds++;
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(steps + rounds * 3);
	return corpus_end();
}

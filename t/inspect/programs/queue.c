// SPDX-License-Identifier: LGPL-2.1-or-later
/* Iterations taken from a counter by hand: the counter ends at one more for each thread. */
#include "corpus.h"
enum { N = 500 };
static double a[N];
static int next, other;

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* bound: count */
	for (;;) {
		int i;
#pragma omp atomic capture
		i = next++;
		if (i >= n)
			break;
		a[i] = corpus_value(i);
	}
	corpus_number(next);
#pragma omp parallel /* free */
	for (;;) {
		int i;
#pragma omp critical
		i = other < n ? other++ : n;
		if (i >= n)
			break;
		a[i] += 2;
	}
	corpus_number(other);
	corpus_add(a, sizeof(a));
	return corpus_end();
}

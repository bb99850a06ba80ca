// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops whose iterations wait for each other. */
#include "corpus.h"
enum { N = 120 };
static double a[N], b[N][8], sum;

int main(void)
{
	int n = corpus_int(N);
	unsigned mixed = 1;

#pragma omp parallel for ordered /* free */
	for (int i = 0; i < n; i++) {
		double x = corpus_value(i);
#pragma omp ordered
		{
			sum = sum * 0.5 + x;
			mixed = mixed * 31 + (unsigned)x;
		}
	}
#pragma omp parallel for ordered schedule(dynamic, 3) /* free */
	for (int i = 0; i < n; i++) {
#pragma omp ordered
		a[i] = mixed++;
	}
#pragma omp parallel for ordered(1) schedule(static, 2) /* free */
	for (int i = 1; i < n; i++) {
#pragma omp ordered depend(sink : i - 1)
		a[i] += a[i - 1];
#pragma omp ordered depend(source)
	}
#pragma omp parallel for ordered(2) schedule(dynamic) /* free */
	for (int i = 1; i < n; i++)
		for (int j = 1; j < 8; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
			b[i][j] = b[i - 1][j] + b[i][j - 1] + 1;
			b[i][j] -= b[i][j] > 100000 ? 99999 : 0;
#pragma omp ordered depend(source)
		}
#pragma omp parallel for ordered /* bound: private */
	for (int i = 0; i < n; i++) {
		static _Thread_local unsigned own;

		own += (unsigned)i;
#pragma omp ordered
		mixed = mixed * 3 + own;
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(sum);
	corpus_number(mixed);
	return corpus_end();
}

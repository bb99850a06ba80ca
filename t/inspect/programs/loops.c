// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops of all static kinds that nobody can tell apart by their threads. */
#include "corpus.h"
enum { N = 1003 };
static double a[N], b[N];

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		b[i] = corpus_value(i);
#pragma omp parallel for schedule(static, 4) /* free */
	for (int i = 0; i < n; i++)
		a[i] = b[i] * 2;
#pragma omp parallel for schedule(static, 1) /* free */
	for (int i = 0; i < n; i++)
		a[i] += b[i];
#pragma omp parallel for schedule(static, n / 7) /* free */
	for (int i = 0; i < n; i++)
		a[i] += 3 * b[i];
#pragma omp parallel for schedule(static) /* free */
	for (int i = 1; i < n - 1; i++)
		a[i] = b[i - 1] + b[i + 1];
	corpus_add(a, sizeof(a));
	return corpus_end();
}

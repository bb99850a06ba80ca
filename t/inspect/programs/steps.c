// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops with other steps, types and directions. */
#include "corpus.h"
enum { N = 1003 };
static double a[N], b[N];

int main(void)
{
	long n = corpus_int(N);
	unsigned u = (unsigned)n;
	unsigned long ul = (unsigned long)n;

#pragma omp parallel for /* free */
	for (long i = n - 1; i >= 0; i--)
		b[i] = corpus_value(i);
#pragma omp parallel for /* free */
	for (int i = (int)n - 1; i > 0; i -= 3)
		a[i] = b[i];
#pragma omp parallel for /* free */
	for (unsigned i = 5; i < u; i += 3)
		a[i] += 2 * b[i];
#pragma omp parallel for /* free */
	for (unsigned long i = 1; i <= ul - 1; i += 2)
		a[i] += 7 * b[i];
#pragma omp parallel for schedule(dynamic, 5) /* free */
	for (unsigned long i = ul - 1; i > 1; i -= 2)
		a[i] -= b[i];
#pragma omp parallel for /* free */
	for (double *p = a; p < a + n; p++)
		*p += 1;
	corpus_add(a, sizeof(a));
	return corpus_end();
}

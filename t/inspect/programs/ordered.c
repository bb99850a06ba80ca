// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops whose iterations wait for each other. */
#include "corpus.h"
enum { N = 120 };
static double a[N], b[N], sum;

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for ordered /* bound: ordered */
	for (int i = 0; i < n; i++) {
		a[i] = corpus_value(i);
#pragma omp ordered
		sum = sum * 3 + a[i];
	}
#pragma omp parallel for ordered schedule(dynamic, 3) /* bound: ordered */
	for (int i = 0; i < n; i++) {
#pragma omp ordered
		b[i] = i > 0 ? b[i - 1] + a[i] : a[i];
	}
#pragma omp parallel for ordered(1) schedule(static, 2) /* bound: doacross */
	for (int i = 1; i < n; i++) {
#pragma omp ordered depend(sink : i - 1)
		b[i] += b[i - 1];
#pragma omp ordered depend(source)
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(sum > 0);
	return corpus_end();
}

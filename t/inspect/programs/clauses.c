// SPDX-License-Identifier: LGPL-2.1-or-later
/* Clauses of regions: if, num_threads, proc_bind, private, default. */
#include "corpus.h"
#include <omp.h>
enum { N = 333 };
static double a[N], b[N];
static int many;

int main(void)
{
	int n = corpus_int(N), spare = corpus_int(7);
	double base = corpus_int(4);

#pragma omp parallel for if (n > 100) /* free */
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i);
	for (int k = 0; k < 2; k++) {
#pragma omp parallel for if (k > 0) /* free */
		for (int i = 0; i < n; i++)
			a[i] += 3;
	}
#pragma omp parallel for num_threads(2) /* open: clause */
	for (int i = 0; i < n; i++)
		a[i] *= 2;
#pragma omp parallel num_threads(3) /* bound: clause */
	{
#pragma omp atomic
		many += omp_get_num_threads();
	}
#pragma omp parallel for proc_bind(close) default(none) shared(a, n) /* free */ \
	private(spare) firstprivate(base)
	for (int i = 0; i < n; i++) {
		spare = i;
		a[i] += base + spare;
	}
#pragma omp parallel for num_threads(2) schedule(static) /* bound: clause */
	for (int i = 0; i < n; i++)
		b[i] = i < n / 2 + 1 && omp_get_thread_num() == 0 ? 1 : 2;
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(many);
	corpus_number(spare);
	return corpus_end();
}

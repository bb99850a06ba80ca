// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers of threads that were asked for outside, and used inside. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
enum { N = 450 };
static double a[N], sum;
static int counted;

int main(void)
{
	int n = corpus_int(N), threads = omp_get_max_threads();
	double *parts = calloc((size_t)threads * 64, sizeof(*parts));

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i) + threads;
#pragma omp parallel for schedule(static, n / threads) /* free */
	for (int i = 0; i < n; i++)
		a[i] += 1;
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		if (threads > 1) {
#pragma omp atomic
			sum += a[i];
		} else {
			sum += a[i];
		}
	}
#pragma omp parallel /* bound: identity */
	{
		int t = omp_get_thread_num();
#pragma omp for
		for (int i = 0; i < n; i++)
			parts[t] += a[i];
	}
#pragma omp parallel /* bound: number */
	{
#pragma omp master
		counted = omp_get_num_threads();
	}
	for (int t = 0; t < threads; t++)
		corpus_number(parts[t]);
	free(parts);
	corpus_add(a, sizeof(a));
	corpus_number(counted);
	corpus_number(sum);
	return corpus_end();
}

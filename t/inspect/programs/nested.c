// SPDX-License-Identifier: LGPL-2.1-or-later
/* Regions inside regions. */
#include "corpus.h"
#include <omp.h>
enum { N = 40, M = 30 };
static double a[N][M], sums[N];
static int levels, inner_count;

int main(void)
{
	int n = corpus_int(N), m = corpus_int(M);

	omp_set_max_active_levels(2);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
#pragma omp parallel for /* free */
		for (int j = 0; j < m; j++)
			a[i][j] = corpus_value(i * j);
	}
#pragma omp parallel for schedule(dynamic) /* free */
	for (int i = 0; i < n; i++) {
		double sum = 0;

#pragma omp parallel for reduction(+ : sum) /* free */
		for (int j = 0; j < m; j++)
			sum += a[i][j];
		sums[i] = sum;
	}
	/* The outer one's team decides how often; the inner one's is counted. */
#pragma omp parallel /* bound: count */
	{
#pragma omp parallel /* bound: count */
		{
#pragma omp atomic
			inner_count++;
		}
	}
	corpus_add(a, sizeof(a));
	corpus_add(sums, sizeof(sums));
	corpus_number(levels + inner_count);
	return corpus_end();
}

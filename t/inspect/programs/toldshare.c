// SPDX-License-Identifier: LGPL-2.1-or-later
/* A number that was told outside, used to share inside: right only for a team of that size. */
#include "corpus.h"
#include <omp.h>
enum { N = 600, MOST = 64 };
static double a[N], b[N], parts[MOST], sum, tiles;

int main(void)
{
	int n = corpus_int(N), told = omp_get_max_threads();

#pragma omp parallel /* bound: share */
	for (int i = omp_get_thread_num(); i < n; i += told)
		a[i] += corpus_value(i);
#pragma omp parallel /* bound: share */
	{
		int t = omp_get_thread_num(), size = (n + told - 1) / told;

		for (int i = t * size; i < (t + 1) * size && i < n; i++)
			b[i] = corpus_value(i);
	}
#pragma omp parallel for /* free */
	for (int t = 0; t < told; t++)
		for (int i = t * n / told; i < (t + 1) * n / told; i++)
			parts[t] += corpus_value(i);
#pragma omp parallel for reduction(+ : tiles) /* free */
	for (int tile = 0; tile < 4 * told; tile++) {
		int low = tile * n / (4 * told), high = (tile + 1) * n / (4 * told);

		for (int i = low; i < high; i++)
			tiles += b[i] >= 0 ? 1 : 2;
	}
#pragma omp parallel /* open: chunk */
	{
		int chunk = n / (8 * omp_get_num_threads()) + 1;
#pragma omp for schedule(dynamic, chunk)
		for (int i = 0; i < n; i++)
			a[i] += 1;
	}
	for (int t = 0; t < told; t++)
		sum += parts[t];
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(sum + (tiles > 0));
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reductions of arrays, and private histograms merged by hand. */
#include "corpus.h"
#include <stdlib.h>
#include <string.h>
enum { N = 2000, BINS = 32 };
static int bins[BINS], parts[BINS], merged[BINS], missed[BINS];

int main(void)
{
	int n = corpus_int(N), width = corpus_int(BINS);

#pragma omp parallel for reduction(+ : bins) /* free */
	for (int i = 0; i < n; i++)
		bins[(int)(corpus_value(i) + 24) % BINS]++;
#pragma omp parallel for reduction(+ : parts[4 : 16]) /* free */
	for (int i = 0; i < n; i++)
		parts[4 + i % 16] += i;
#pragma omp parallel /* free */
	{
		int *mine = calloc((size_t)width, sizeof(*mine));
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine[i * 7 % width]++;
#pragma omp critical
		for (int k = 0; k < width; k++)
			merged[k] += mine[k];
		free(mine);
	}
#pragma omp parallel /* bound: count */
	{
		int mine[BINS];

		for (int k = 0; k < BINS; k++)
			mine[k] = k;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine[i % BINS]++;
#pragma omp critical
		for (int k = 0; k < BINS; k++)
			missed[k] += mine[k];
	}
	corpus_add(bins, sizeof(bins));
	corpus_add(parts, sizeof(parts));
	corpus_add(merged, sizeof(merged));
	corpus_add(missed, sizeof(missed));
	return corpus_end();
}

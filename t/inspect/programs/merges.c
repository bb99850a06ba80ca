// SPDX-License-Identifier: LGPL-2.1-or-later
/* What threads merge at the end: sums, minima, lists, and more than they should. */
#include "corpus.h"
#include <string.h>
enum { N = 280 };
static double sum, least = 1e9, best = 1e9, sentinel = -1;
static int list[N], listed;
static long extra;

int main(void)
{
	int n = corpus_int(N), marks = 0;

#pragma omp parallel /* free */
	{
		double mine = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine += corpus_value(i);
#pragma omp atomic
		sum += mine;
	}
#pragma omp parallel /* free */
	{
		double mine = least;
#pragma omp for
		for (int i = 0; i < n; i++)
			mine = corpus_value(i) < mine ? corpus_value(i) : mine;
#pragma omp critical
		least = mine < least ? mine : least;
	}
#pragma omp parallel /* free */
	{
		double mine = -1;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine = corpus_value(i) > mine ? corpus_value(i) : mine;
		if (mine >= 0) {
#pragma omp critical
			sentinel = mine > sentinel ? mine : sentinel;
		}
	}
#pragma omp parallel /* open: order */
	{
		int mine[N], count = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			if (i % 3 == 0)
				mine[count++] = i;
#pragma omp critical
		for (int k = 0; k < count; k++)
			list[listed++] = mine[k];
	}
#pragma omp parallel /* bound: count */
	{
		long mine = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine += i;
#pragma omp atomic
		extra += mine + 1;
	}
#pragma omp parallel reduction(| : marks) /* free */
	{
#pragma omp for
		for (int i = 0; i < n; i++)
			marks |= i & 96;
	}
	for (int k = 0; k < listed; k++)
		corpus_sum += (uint64_t)list[k];
	corpus_number(sum + least + best + sentinel);
	corpus_number((double)extra + marks);
	return corpus_end();
}

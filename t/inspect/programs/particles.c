// SPDX-License-Identifier: LGPL-2.1-or-later
/* Particles: forces with atomics, cells and their lists. */
#include "corpus.h"
enum { N = 150, CELLS = 20 };
static double x[N], f[N];
static int cell[N], counts[CELLS], begin[CELLS + 1], order[N];

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++) {
		x[i] = corpus_value(i);
		cell[i] = (int)(x[i] + 24) % CELLS;
#pragma omp atomic
		counts[cell[i]]++;
	}
	for (int c = 0; c < CELLS; c++)
		begin[c + 1] = begin[c] + counts[c];
#pragma omp parallel for /* hot */
	for (int c = 0; c < CELLS; c++) {
		int place = begin[c];

		for (int i = 0; i < n; i++)
			if (cell[i] == c)
				order[place++] = i;
	}
#pragma omp parallel for schedule(dynamic, 8) /* hot */
	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++) {
			double d = x[i] > x[j] ? 1 : -1;
#pragma omp atomic
			f[i] += d;
#pragma omp atomic
			f[j] -= d;
		}
	corpus_add(f, sizeof(f));
	corpus_add(order, sizeof(order));
	return corpus_end();
}

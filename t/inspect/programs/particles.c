// SPDX-License-Identifier: LGPL-2.1-or-later
/* Particles: forces with atomics, with a copy for each thread, by cells; a list of neighbours. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
enum { N = 150, CELLS = 20, MOST = 64 };
static double x[N], f[N], g[N], copies[MOST][N];
static int cell[N], counts[CELLS], begin[CELLS + 1], order[N];

int main(void)
{
	int n = corpus_int(N), threads = omp_get_max_threads();

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		x[i] = corpus_value(i);
		cell[i] = (int)(x[i] + 24) % CELLS;
#pragma omp atomic
		counts[cell[i]]++;
	}
	for (int c = 0; c < CELLS; c++)
		begin[c + 1] = begin[c] + counts[c];
#pragma omp parallel for /* free */
	for (int c = 0; c < CELLS; c++) {
		int place = begin[c];

		for (int i = 0; i < n; i++)
			if (cell[i] == c)
				order[place++] = i;
	}
#pragma omp parallel for schedule(dynamic, 8) /* free */
	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++) {
			double d = x[i] > x[j] ? 1 : -1;
#pragma omp atomic
			f[i] += d;
#pragma omp atomic
			f[j] -= d;
		}
#pragma omp parallel /* bound: identity */
	{
		double *mine = copies[omp_get_thread_num()];
#pragma omp for
		for (int i = 0; i < n; i++)
			for (int j = 0; j < i; j++) {
				mine[i] += 1;
				mine[j] -= 2;
			}
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		for (int t = 0; t < threads; t++)
			g[i] += copies[t][i];
	corpus_add(f, sizeof(f));
	corpus_add(g, sizeof(g));
	corpus_add(order, sizeof(order));
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sparse matrices: rows of unequal length, colours, levels. */
#include "corpus.h"
#include <string.h>
enum { N = 160, WIDTH = 6 };
static int start[N + 1], column[N * WIDTH], level[N];
static double value[N * WIDTH], x[N], y[N];

int main(void)
{
	int n = corpus_int(N), levels = 0;

	for (int i = 0; i < n; i++)
		start[i + 1] = start[i] + 1 + i % WIDTH;
#pragma omp parallel for schedule(guided) /* hot */
	for (int i = 0; i < n; i++) {
		x[i] = corpus_value(i);
		for (int k = start[i]; k < start[i + 1]; k++) {
			column[k] = (i * 7 + k) % n;
			value[k] = k % 5;
		}
	}
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++) {
		double sum = 0;

		for (int k = start[i]; k < start[i + 1]; k++)
			sum += value[k] * x[column[k]];
		y[i] = sum;
	}
	for (int colour = 0; colour < 3; colour++) {
#pragma omp parallel for /* hot: not by gcc */
		for (int i = colour; i < n; i += 3)
			y[i] += i > 2 ? (double)((long)y[i - 1] & 255) : 1;
	}
#pragma omp parallel reduction(max : levels) /* hot */
	{
#pragma omp for
		for (int i = 0; i < n; i++) {
			int depth = 0;

			for (int k = i; k > 0 && depth < 20; k = column[start[k]])
				depth++;
			level[i] = depth;
			levels = depth > levels ? depth : levels;
		}
	}
	corpus_add(y, sizeof(y));
	corpus_add(level, sizeof(level));
	corpus_number(levels);
	return corpus_end();
}

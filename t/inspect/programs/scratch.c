// SPDX-License-Identifier: LGPL-2.1-or-later
/* Private scratch: written in an iteration before it is read there. */
#include "corpus.h"
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
enum { N = 260, WIDTH = 12 };
static double a[N], b[N], c[N], d[N];

NOINLINE static void fill(double *to, int n, double x)
{
	for (int k = 0; k < n; k++)
		to[k] = x + k;
}

NOINLINE static double sum(const double *of, int n)
{
	double all = 0;

	for (int k = 0; k < n; k++)
		all += of[k];
	return all;
}

int main(void)
{
	int n = corpus_int(N), width = corpus_int(WIDTH);

#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++) {
		double mine[WIDTH];

		for (int k = 0; k < WIDTH; k++)
			mine[k] = i * k;
		a[i] = mine[i % WIDTH] + mine[3];
	}
#pragma omp parallel /* hot */
	{
		double *mine = malloc((size_t)width * sizeof(*mine));
#pragma omp for
		for (int i = 0; i < n; i++) {
			fill(mine, width, i);
			b[i] = sum(mine, width);
		}
		free(mine);
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		double mine[width];
		double *other = alloca((size_t)width * sizeof(*other));

		memset(mine, 0, sizeof(mine));
		fill(other, width, i);
		memcpy(mine, other, sizeof(mine));
		c[i] = sum(mine, width);
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		double *mine = calloc((size_t)(1 + i % 5), sizeof(*mine));

		mine[i % 5] = i;
		d[i] = sum(mine, 1 + i % 5);
		free(mine);
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_add(d, sizeof(d));
	return corpus_end();
}

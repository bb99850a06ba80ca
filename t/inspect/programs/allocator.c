// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory: of the region, of each thread, of a pool. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>
enum { N = 300, WIDTH = 24, MOST = 64 };
static double a[N];
static char pools[MOST][N * 8];
static size_t used[MOST];
static _Thread_local double *kept;
static double *buffers[MOST];

NOINLINE static double *pool_take(size_t count)
{
	int t = omp_get_thread_num();
	double *p = (double *)(pools[t] + used[t]);

	used[t] += count * sizeof(double);
	return p;
}

int main(void)
{
	int n = corpus_int(N), width = corpus_int(WIDTH);

#pragma omp parallel /* free */
	{
		double *p = malloc((size_t)width * sizeof(*p));
#pragma omp for
		for (int i = 0; i < n; i++) {
			for (int k = 0; k < width; k++)
				p[k] = corpus_value(i * k);
			a[i] = p[i % width] + p[0];
		}
		free(p);
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		double *p = calloc((size_t)i + 1, sizeof(*p));

		p[i] = i;
		p = realloc(p, (size_t)(i + 2) * sizeof(*p));
		a[i] += p[i] + p[i / 2];
		free(p);
	}
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		*pool_take(1) = a[i];
#pragma omp parallel /* bound: tls */
	{
		if (!kept)
			kept = calloc(1, sizeof(*kept));
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += ++*kept;
	}
#pragma omp parallel /* bound: identity */
	buffers[omp_get_thread_num()] = calloc(8, sizeof(double));
	for (int t = 0; t < MOST; t++) {
		corpus_number(buffers[t] ? 1 : 0);
		free(buffers[t]);
	}
	corpus_add(used, sizeof(used));
	corpus_add(a, sizeof(a));
	return corpus_end();
}

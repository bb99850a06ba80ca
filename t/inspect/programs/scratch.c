// SPDX-License-Identifier: LGPL-2.1-or-later
/* Scratch of each thread that is written before it is read: in TLS, by number, in the region. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>
enum { N = 190, WIDTH = 12, MOST = 64 };
static double a[N], b[N], scratches[MOST][WIDTH], *pointers[MOST];
static double work[WIDTH];
#pragma omp threadprivate(work)

NOINLINE static double use(double *scratch, int i)
{
	double sum = 0;

	for (int k = 0; k < WIDTH; k++)
		scratch[k] = i + k;
	for (int k = 0; k < WIDTH; k++)
		sum += scratch[WIDTH - 1 - k] * k;
	return sum;
}

NOINLINE static double forget(double *scratch, int i)
{
	scratch[i % WIDTH] += i;
	return scratch[(i + 1) % WIDTH];
}

int main(void)
{
	int n = corpus_int(N);

	for (int t = 0; t < MOST; t++)
		pointers[t] = calloc(WIDTH, sizeof(double));
	/* Written before it is read, but a later region reads what is left of it. */
#pragma omp parallel for /* bound: tls */
	for (int i = 0; i < n; i++)
		a[i] = use(work, i);
#pragma omp parallel for /* open: scratch */
	for (int i = 0; i < n; i++)
		a[i] += use(pointers[omp_get_thread_num()], i);
#pragma omp parallel for /* bound: tls */
	for (int i = 0; i < n; i++)
		b[i] = forget(work, i);
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		b[i] += forget(scratches[omp_get_thread_num()], i);
#pragma omp parallel /* free */
	{
		double mine[WIDTH];
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += use(mine, i);
	}
#pragma omp parallel /* bound: private */
	{
		double mine[WIDTH];

		memset(mine, 0, sizeof(mine));
#pragma omp for
		for (int i = 0; i < n; i++)
			b[i] += forget(mine, i);
	}
	for (int t = 0; t < MOST; t++)
		free(pointers[t]);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	return corpus_end();
}

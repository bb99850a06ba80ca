// SPDX-License-Identifier: LGPL-2.1-or-later
/* Indices that are computed along with the loop: from the iteration, or on from the last one. */
#include "corpus.h"
enum { N = 40, M = 25 };
static double a[N * M], b[N * M], c[N * M];
static struct {
	unsigned low : 3, high : 13;
	union {
		float f;
		int32_t i;
	} both;
} packed[N * M];

int main(void)
{
	int n = corpus_int(N), m = corpus_int(M), place = 0;

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		double *row = a + (size_t)i * M;

		for (int j = 0; j < m; j++)
			*row++ = corpus_value(i * j);
	}
#pragma omp parallel for firstprivate(place) /* bound: private */
	for (int i = 0; i < n * m; i++)
		b[place++] += a[i];
#pragma omp parallel for collapse(2) /* free */
	for (int j = 0; j < m; j++)
		for (int i = 0; i < n; i++)
			c[i * M + j] = a[((i + j) % N) * M + j];
#pragma omp parallel for /* free */
	for (int i = 0; i < n * m; i++) {
		packed[i].low = (unsigned)i & 7;
		packed[i].high = (unsigned)(a[i] + 24);
		packed[i].both.f = (float)i;
		c[i] += packed[i].both.i >> 20;
	}
	for (int i = 0; i < n * m; i++)
		corpus_number(packed[i].low + packed[i].high);
	corpus_number(b[0] > 0 ? 1 : 0);
	corpus_add(a, sizeof(a));
	for (int i = N * M / 2; i < N * M; i++)
		corpus_number(b[i] > 0 || b[i] < 0);
	corpus_add(c, sizeof(c));
	return corpus_end();
}

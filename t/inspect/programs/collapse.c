// SPDX-License-Identifier: LGPL-2.1-or-later
/* Nests of loops shared as one, rectangles and triangles. */
#include "corpus.h"
enum { N = 37, M = 23 };
static double a[N][M], b[N][N], c[4 * N * M];

int main(void)
{
	int n = corpus_int(N), m = corpus_int(M);

#pragma omp parallel for collapse(2) /* free */
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			a[i][j] = corpus_value(i * 100 + j);
#pragma omp parallel for collapse(3) schedule(static, 5) /* free */
	for (int k = 0; k < 4; k++)
		for (int i = 0; i < n; i++)
			for (int j = m - 1; j >= 0; j--)
				c[(k * n + i) * m + j] = a[i][j] * k;
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++)
			b[i][j] = c[i] + j;
#pragma omp parallel for collapse(2) /* free */
	for (int i = 0; i < n; i++)
		for (int j = i; j < n; j++)
			b[i][j] += 2;
#pragma omp parallel for collapse(2) /* bound: private */
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++) {
			static __thread double carried;

			carried += a[i][j];
			c[i * m + j] = carried;
		}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Stencils, transposition, gather and scatter: what numerical programs are made of. */
#include "corpus.h"
enum { N = 48 };
static double u[N][N], v[N][N], w[N * N];
static int index_of[N * N];

int main(void)
{
	int n = corpus_int(N);
	double residual = 0;

#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			u[i][j] = corpus_value(i * n + j);
			index_of[i * n + j] = (i * n + j) * 5 % (n * n);
		}
	for (int t = 0; t < 4; t++) {
#pragma omp parallel for /* hot */
		for (int i = 1; i < n - 1; i++)
			for (int j = 1; j < n - 1; j++)
				v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
#pragma omp parallel for reduction(+ : residual) schedule(static, 3) /* hot */
		for (int i = 1; i < n - 1; i++)
			for (int j = 1; j < n - 1; j++) {
				residual += v[i][j] - 4 * u[i][j];
				u[i][j] = (double)((long)v[i][j] % 4096);
			}
	}
#pragma omp parallel for collapse(2) /* hot */
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			v[j][i] = u[i][j];
#pragma omp parallel for /* hot */
	for (int i = 0; i < n * n; i++) {
#pragma omp atomic
		w[index_of[i] / 2] += v[i / N][i % N];
	}
	corpus_add(v, sizeof(v));
	corpus_add(w, sizeof(w));
	corpus_number(residual);
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* A conjugate gradient in one region, as programs have it: loops, reductions, single. */
#include "corpus.h"
enum { N = 128 };
static double x[N], r[N], p[N], q[N];
static double rho, alpha, last_rho;
static int iterations;

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* hot: not by gcc */
	{
#pragma omp for
		for (int i = 0; i < n; i++) {
			r[i] = corpus_value(i);
			p[i] = r[i];
		}
		for (int k = 0; k < 5; k++) {
#pragma omp single
			rho = alpha = 0;
#pragma omp for reduction(+ : rho) nowait
			for (int i = 0; i < n; i++)
				rho += r[i];
#pragma omp for
			for (int i = 0; i < n; i++)
				q[i] = 2 * p[i] - (i > 0 ? p[i - 1] : 0) -
				       (i < n - 1 ? p[i + 1] : 0);
#pragma omp for reduction(+ : alpha)
			for (int i = 0; i < n; i++)
				alpha += q[i];
#pragma omp for
			for (int i = 0; i < n; i++) {
				x[i] += p[i];
				r[i] = (double)((long)(r[i] - q[i]) % 512);
				p[i] = (double)((long)(r[i] + rho + alpha) % 512);
			}
#pragma omp master
			{
				iterations++;
				last_rho = rho;
			}
		}
	}
	corpus_add(x, sizeof(x));
	corpus_add(p, sizeof(p));
	corpus_number(iterations + last_rho);
	return corpus_end();
}

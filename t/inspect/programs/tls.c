// SPDX-License-Identifier: LGPL-2.1-or-later
/* Variables that each thread has of its own. */
#include "corpus.h"
enum { N = 640, WIDTH = 16 };
static double a[N], total, kept;
static _Thread_local double scratch[WIDTH];
static _Thread_local double running;
static double cached;
static int filled;
#pragma omp threadprivate(cached, filled)

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* open: scratch */
	for (int i = 0; i < n; i++) {
		double sum = 0;

		for (int k = 0; k < WIDTH; k++)
			scratch[k] = corpus_value(i + k);
		for (int k = 0; k < WIDTH; k++)
			sum += scratch[k * 7 % WIDTH] * k;
		a[i] = sum;
	}
#pragma omp parallel for /* bound: tls */
	for (int i = 0; i < n; i++) {
		running += a[i];
		a[i] = running;
	}
#pragma omp parallel /* bound: tls */
	{
#pragma omp for
		for (int i = 0; i < n; i++)
			cached += i;
		filled++;
	}
#pragma omp parallel /* bound: tls */
	{
#pragma omp atomic
		total += cached;
	}
#pragma omp parallel copyin(cached) /* bound: tls */
	{
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += cached;
#pragma omp critical
		kept += filled;
	}
	corpus_add(a, sizeof(a));
	corpus_number(total);
	corpus_number(kept);
	return corpus_end();
}

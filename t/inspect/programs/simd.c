// SPDX-License-Identifier: LGPL-2.1-or-later
/* Vectors, unrolling and versions of loops. */
#include "corpus.h"
#include <math.h>
enum { N = 1024 };
static double a[N], b[N];
static float f[N];
static int whole[N];
static char bytes[N];

#pragma omp declare simd
NOINLINE static double square(double x)
{
	return x * x;
}

int main(void)
{
	int n = corpus_int(N);
	float sum = 0;

#pragma omp parallel for simd /* free */
	for (int i = 0; i < n; i++)
		a[i] = i * 2 + 1;
#pragma omp parallel for simd schedule(simd : static) reduction(+ : sum) /* free */
	for (int i = 0; i < n; i++) {
		f[i] = (float)(i & 15);
		sum += f[i];
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		b[i] = square(a[i]) + fabs(a[i]) + floor(sqrt(a[i] * a[i]));
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		whole[i] = whole[i] > 3 ? whole[i] * 5 : i;
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		bytes[i] = 0;
#pragma omp parallel for simd lastprivate(n) /* free */
	for (int i = 0; i < 512; i++)
		n = i;
	corpus_add(b, sizeof(b));
	corpus_add(whole, sizeof(whole));
	corpus_number(sum + n);
	return corpus_end();
}

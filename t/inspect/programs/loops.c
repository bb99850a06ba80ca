// SPDX-License-Identifier: LGPL-2.1-or-later
/* Worksharing loops of each schedule, type and step. */
#include "corpus.h"
#include <math.h>
#include <omp.h>
enum { N = 1003, M = 23 };
static double a[N], b[N], c[M][M];
static int marks[N];
static unsigned char bytes[N];

int main(void)
{
	int n = corpus_int(N), m = corpus_int(M), d = corpus_int(2), last = 0;
	unsigned long long sum = 0;

#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i);
#pragma omp parallel for schedule(static, 4) /* hot: not by gcc, not from one */
	for (int i = n - 1; i >= 0; i -= 2)
		b[i] = a[i] * 3 + fabs(a[i]);
#pragma omp parallel for schedule(dynamic) /* hot */
	for (long i = 0; i < n; i++)
		b[i] += sqrt(a[i] * a[i]);
#pragma omp parallel for schedule(guided, 4) /* hot */
	for (unsigned long long i = 1; i < (unsigned long long)n; i += 3)
		a[i] += (double)i;
	omp_set_schedule(omp_sched_static, 3);
#pragma omp parallel for schedule(runtime) /* hot */
	for (int i = 0; i < n; i++)
		a[i] *= 2;
#pragma omp parallel for schedule(auto) /* hot */
	for (int i = 0; i < n; i++)
		bytes[i] = 7;
#pragma omp parallel for /* hot */
	for (int i = m - d; i <= n - d; i++)
		for (int j = 0; j < d; j++)
			a[i] += marks[i] + j;
	// Rows of which the next one is read too.
#pragma omp parallel for /* hot */
	for (int i = 1; i < m; i++)
#pragma omp simd
		for (int j = 0; j < d; j++)
			b[d * i + j] = a[d * i + j] + a[d * (i + 1) + j];
#pragma omp parallel for collapse(2) /* hot */
	for (int i = 0; i < m; i++)
		for (int j = 0; j < m; j++)
			c[i][j] = i * j;
#pragma omp parallel for simd /* hot */
	for (int i = 0; i < n; i++)
		marks[i] = marks[i] > 3 ? marks[i] * 5 : i;
#pragma omp parallel for lastprivate(last) reduction(+ : sum) /* hot: not from one */
	for (unsigned long long i = 0; i < (unsigned long long)n; i++) {
		last = (int)i;
		sum += i;
	}
#pragma omp parallel /* hot */
	{
#pragma omp for schedule(dynamic, 5) nowait
		for (int i = 0; i < n; i++)
			b[i] += 1;
		// The same schedule gives a thread the same iterations, whatever the team.
#pragma omp for schedule(static) nowait
		for (int i = 0; i < n; i++)
			a[i] += 1;
#pragma omp for schedule(static) nowait
		for (int i = 0; i < n; i++)
			marks[i] += (int)a[i];
#pragma omp for schedule(runtime)
		for (int i = 0; i < m; i++)
			c[i][0] = i;
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_add(marks, sizeof(marks));
	corpus_add(bytes, sizeof(bytes));
	corpus_number((double)sum + last);
	return corpus_end();
}

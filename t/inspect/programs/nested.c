// SPDX-License-Identifier: LGPL-2.1-or-later
/* Regions inside regions, and teams. */
#include "corpus.h"
#include <omp.h>
enum { N = 40 };
static double a[N][N], b[N];
static int inner;

NOINLINE static void row(int i, int n)
{
#pragma omp parallel for /* open: inner */
	for (int j = 0; j < n; j++)
		a[i][j] += i * n + j;
}

int main(void)
{
	int n = corpus_int(N);

	omp_set_max_active_levels(2);
#pragma omp parallel for /* bound: nested */
	for (int i = 0; i < n; i++) {
#pragma omp parallel for /* open: inner */
		for (int j = 0; j < n; j++)
			a[i][j] += 1;
	}
#pragma omp parallel for schedule(dynamic) /* bound: nested */
	for (int i = 0; i < n; i++)
		row(i, n);
#pragma omp parallel /* bound: nested, shown */
	{
#pragma omp parallel num_threads(2) /* bound: num_threads */
#pragma omp atomic
		inner++;
	}
	row(0, n);
#pragma omp teams distribute num_teams(2)
	for (int i = 0; i < 2; i++) {
#pragma omp parallel for /* open: teams */
		for (int j = i; j < n; j += 2)
			b[j] = j;
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(inner);
	return corpus_end();
}

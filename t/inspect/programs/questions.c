// SPDX-License-Identifier: LGPL-2.1-or-later
/* Other questions that a region may ask of its runtime. */
#include "corpus.h"
#include <omp.h>
enum { N = 100 };
static double a[N], b[N];
static int inside, levels, sizes, ancestors;

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] = omp_get_level() + omp_get_dynamic() + omp_in_final();
#pragma omp parallel for /* bound: number */
	for (int i = 0; i < n; i++)
		b[i] = omp_in_parallel() ? 1 : 2;
#pragma omp parallel for /* bound: number */
	for (int i = 0; i < n; i++)
		b[i] += omp_get_active_level();
#pragma omp parallel for reduction(+ : sizes) /* bound: number */
	for (int i = 0; i < n; i++)
		sizes += omp_get_team_size(1);
#pragma omp parallel for reduction(+ : ancestors) /* bound: identity */
	for (int i = 0; i < n; i++)
		ancestors += omp_get_ancestor_thread_num(1);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] += omp_get_max_threads();
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(inside + levels);
	corpus_number(sizes);
	corpus_number(ancestors);
	return corpus_end();
}

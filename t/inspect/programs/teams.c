// SPDX-License-Identifier: LGPL-2.1-or-later
/* Regions of teams on the host. */
#include "corpus.h"
#include <omp.h>
enum { N = 256, MOST = 64 };
static double a[N], b[N], by_thread[MOST];

int main(void)
{
	int n = corpus_int(N);

#pragma omp teams num_teams(2)
	{
#pragma omp distribute
		for (int half = 0; half < 2; half++) {
#pragma omp parallel for /* free */
			for (int i = half * n / 2; i < (half + 1) * n / 2; i++)
				a[i] = corpus_value(i);
		}
	}
#pragma omp teams num_teams(1)
	{
#pragma omp parallel for /* bound: identity */
		for (int i = 0; i < n; i++)
			by_thread[omp_get_thread_num()] += a[i];
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		b[i] = a[n - 1 - i];
	corpus_add(b, sizeof(b));
	corpus_add(by_thread, sizeof(by_thread));
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arrays with an element for each thread. */
#include "corpus.h"
#include <omp.h>
enum { N = 1000, MOST = 64 };
static double sums[MOST], a[N];
static int starts[MOST], ends[MOST];

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i);
#pragma omp parallel /* bound: identity */
	{
		double sum = 0;
#pragma omp for
		for (int i = 0; i < n; i++)
			sum += a[i];
		sums[omp_get_thread_num()] = sum;
	}
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		sums[omp_get_thread_num()] += i;
#pragma omp parallel /* bound: identity */
	{
		int t = omp_get_thread_num(), first = n, last = -1;
#pragma omp for nowait
		for (int i = 0; i < n; i++) {
			first = i < first ? i : first;
			last = i > last ? i : last;
		}
		starts[t] = first;
		ends[t] = last;
	}
	corpus_add(sums, sizeof(sums));
	corpus_add(starts, sizeof(starts));
	corpus_add(ends, sizeof(ends));
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Values that differ by thread after paths have joined again. */
#include "corpus.h"
#include <omp.h>
enum { N = 160 };
static double a[N], b[N];
static int extra;

NOINLINE static int choose(int t)
{
	return t == 0 ? 3 : 9;
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* bound: identity */
	{
		int k = 1;

		if (omp_get_thread_num() == 0)
			k = 2;
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] = k;
	}
#pragma omp parallel /* bound: identity */
	{
		int k = choose(omp_get_thread_num());
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += k;
	}
#pragma omp parallel /* bound: identity, cannot be shown */
	{
		int k = 0;
#pragma omp single
		k = 1;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			b[i] = k;
	}
#pragma omp parallel /* bound: number */
	{
		int many = omp_get_num_threads() > 2;
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += many ? 10 : 20;
	}
#pragma omp parallel /* bound: count */
	{
		int k = 0;
#pragma omp for
		for (int i = 0; i < n / 80; i++)
			k = 1;
		if (k == 0) {
#pragma omp atomic
			extra++;
		}
	}
#pragma omp parallel /* bound: count */
	{
		int k = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			k += i >= 0;
		if (k) {
#pragma omp atomic
			extra += 100;
		}
	}
	corpus_add(a, sizeof(a));
	corpus_number(extra);
	if (b[0] > 1)
		corpus_number(b[0]);
	return corpus_end();
}

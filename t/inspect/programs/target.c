// SPDX-License-Identifier: LGPL-2.1-or-later
/* Regions in target constructs, run on the host, and teams of the host. */
#include "corpus.h"
#include <omp.h>
enum { N = 300, MOST = 64 };
static double a[N], b[N], by_thread[MOST];

int main(void)
{
	int n = corpus_int(N);

#pragma omp target map(tofrom : a)
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i);
#pragma omp target map(tofrom : a, b)
	{
#pragma omp parallel for reduction(+ : b[0 : 4]) /* free */
		for (int i = 0; i < n; i++)
			b[i % 4] += a[i];
	}
#pragma omp target map(tofrom : by_thread)
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		by_thread[omp_get_thread_num()] += a[i];
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(by_thread, sizeof(by_thread));
	return corpus_end();
}

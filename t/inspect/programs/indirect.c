// SPDX-License-Identifier: LGPL-2.1-or-later
/* Two regions, one of them bound, that start from one indirect call: compilers jump from there. */
#include "corpus.h"
#include <omp.h>
enum { N = 130 };
static double a[N], b[N];

NOINLINE static void plain(int n)
{
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++)
		a[i] += corpus_value(i);
}

NOINLINE static void telling(int n)
{
#pragma omp parallel for /* bound: identity, shown */
	for (int i = 0; i < n; i++)
		b[i] += omp_get_thread_num();
}

static void (*const steps[])(int) = {plain, telling};

int main(void)
{
	int n = corpus_int(N);

	for (int k = 0; k < 10; k++)
		steps[corpus_int(k) % 2](n);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Two regions, one of them bound, that start from one indirect call: compilers jump from there. And
 * two of which a condition chooses one: clang calls the runtime once, with the function chosen.
 */
#include "corpus.h"
#include <omp.h>
enum { N = 130 };
static double a[N], b[N], c[N];

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

NOINLINE static void chosen(int n, int k)
{
	for (int i = 0; i < 3; i++) {
		corpus_add(c, sizeof(c));
		if (k % 2) {
#pragma omp parallel for schedule(static) /* hot */
			for (int j = 0; j < n; j++)
				c[j] += corpus_value(j);
		} else {
#pragma omp parallel for schedule(dynamic) /* hot */
			for (int j = 0; j < n; j++)
				c[j] -= corpus_value(j);
		}
	}
}

static void (*const steps[])(int) = {plain, telling};

int main(void)
{
	int n = corpus_int(N);

	for (int k = 0; k < 10; k++) {
		steps[corpus_int(k) % 2](n);
		chosen(n, corpus_int(k));
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	return corpus_end();
}

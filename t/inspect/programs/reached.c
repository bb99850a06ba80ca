// SPDX-License-Identifier: LGPL-2.1-or-later
/* Functions that ask for the number, reached by addresses that are kept in data. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
enum { N = 256 };
static int a[N], b[N];
static volatile int asked;

NOINLINE static int compare(const void *x, const void *y)
{
	if (omp_get_thread_num() > 0)
		return *(const int *)y - *(const int *)x;
	return *(const int *)x - *(const int *)y;
}

typedef int comparison(const void *, const void *);
static comparison *comparisons[] = {compare, compare};

int main(void)
{
	int n = corpus_int(N);

	for (int i = 0; i < N; i++)
		a[i] = i * 37 % N;
#pragma omp parallel for schedule(static) /* bound: identity */
	for (int i = 0; i < n / 16; i++)
		qsort(a + 16 * i, 16, sizeof(*a), comparisons[i % 2]);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	return corpus_end();
}

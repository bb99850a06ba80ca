// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls through pointers: to functions that look at nothing, and to one that does. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
enum { N = 256 };
typedef double value_function(double);
static double a[N], b[N];

NOINLINE static double twice(double x)
{
	return x * 2;
}

NOINLINE static double plus(double x)
{
	return x + 5;
}

NOINLINE static double who(double x)
{
	return x + omp_get_thread_num();
}

static value_function *const plain[] = {twice, plus};
static value_function *any[] = {twice, plus, who};

static int compare(const void *x, const void *y)
{
	return *(const double *)x > *(const double *)y ? 1 : -1;
}

int main(void)
{
	int n = corpus_int(N), which = corpus_int(2);

	/* Free, but code that took the address of who() can hardly be told from this. */
#pragma omp parallel for /* open: indirect */
	for (int i = 0; i < n; i++)
		a[i] = plain[i % 2](corpus_value(i));
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		b[i] = any[which](corpus_value(i));
#pragma omp parallel for /* open: indirect */
	for (int i = 0; i < n / 16; i++)
		qsort(a + 16 * i, 16, sizeof(*a), compare);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls through pointers in a program in which nothing asks for a thread's number. */
#include "corpus.h"
#include <stdlib.h>
enum { N = 256 };
typedef double value_function(double);
struct kernel {
	const char *name;
	value_function *apply;
};
static double a[N];
static long calls;

NOINLINE static double twice(double x)
{
	return x * 2;
}

NOINLINE static double plus(double x)
{
	return x + 5;
}

NOINLINE static void count_call(void)
{
#pragma omp atomic
	calls++;
}

static const struct kernel kernels[] = {{"twice", twice}, {"plus", plus}};
static void (*hook)(void) = count_call;

static int compare(const void *x, const void *y)
{
	return *(const double *)x > *(const double *)y ? 1 : -1;
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] = kernels[i % 2].apply(corpus_value(i));
#pragma omp parallel for /* free */
	for (int i = 0; i < n / 16; i++)
		qsort(a + 16 * i, 16, sizeof(*a), compare);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		hook();
#pragma omp parallel /* bound: count */
	hook();
	corpus_add(a, sizeof(a));
	corpus_number((double)calls);
	return corpus_end();
}

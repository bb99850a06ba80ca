// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls through pointers in a program in which no function can tell. */
#include "corpus.h"
#include <stdlib.h>
enum { N = 160 };
typedef double function(double);
static double a[N], b[N];

static double twice(double x)
{
	return x * 2;
}

static double more(double x)
{
	return x + 5;
}

static function *table[] = {twice, more, twice};

static int compare(const void *x, const void *y)
{
	return (*(const double *)x > *(const double *)y) -
	       (*(const double *)x < *(const double *)y);
}

NOINLINE static double fold(int i, function *f)
{
	return f(i) + f(i + 1);
}

int main(void)
{
	int n = corpus_int(N);
	function *chosen = n > 10 ? more : twice;

#pragma omp parallel for /* hot: not from one */
	for (int i = 0; i < n; i++)
		a[i] = table[i % 3](i);
#pragma omp parallel for /* hot: not from one */
	for (int i = 0; i < n; i++)
		a[i] += chosen(i);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		b[i] = fold(i, i % 2 ? twice : more);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i += 8)
		qsort(&b[i], 8, sizeof(*b), compare);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	return corpus_end();
}

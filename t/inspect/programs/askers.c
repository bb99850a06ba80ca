// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls through pointers in a program in which one function whose address is taken can tell. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
enum { N = 160 };
typedef double function(double);
static double a[N], b[N], c[N], order[N];

static double twice(double x)
{
	return x * 2;
}

static double who(double x)
{
	return x + omp_get_thread_num();
}

static function *table[] = {twice, who};

static int compare(const void *x, const void *y)
{
	int sign = omp_get_thread_num() > 0 ? -1 : 1;

	return *(const double *)x > *(const double *)y ? sign : -sign;
}

int main(void)
{
	int n = corpus_int(N), which = corpus_int(0);

#pragma omp parallel for /* bound: indirect */
	for (int i = 0; i < n; i++)
		a[i] = table[which](i);
#pragma omp parallel for /* bound: indirect, shown */
	for (int i = 0; i < n; i++)
		b[i] = table[i % 2](i);
#pragma omp parallel for schedule(static, 1) /* bound: identity, shown */
	for (int i = 0; i < n; i += 8) {
		for (int k = 0; k < 8; k++)
			order[i + k] = corpus_value(i + k);
		qsort(&order[i], 8, sizeof(*order), compare);
	}
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++)
		c[i] = twice(i);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_add(order, sizeof(order));
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Regions that several ways lead to, of which one asks for a size; regions of tail calls. */
#include "corpus.h"
#include <omp.h>
enum { N = 120 };
static int a[N], b[N], n, many, calls;

NOINLINE static void note(void)
{
	calls++;
	__asm__ volatile("" : : : "memory");
}

NOINLINE static void one_of_two(int more)
{
	if (more)
#pragma omp parallel num_threads(3) /* bound: clause */
	{
#pragma omp atomic
		many++;
	} else
#pragma omp parallel for /* free */
		for (int i = 0; i < n; i++)
			a[i] = i;
}

NOINLINE static void few_or_more(int size)
{
	int threads = 1;

	if (__builtin_expect(size > 2, 1)) {
		note();
		threads = 3;
	}
#pragma omp parallel num_threads(threads) /* bound: count */
	{
#pragma omp atomic
		many++;
	}
}

NOINLINE static void more_or_few(int size)
{
	int threads = 3;

	if (__builtin_expect(size > 2, 0)) {
		note();
		threads = 1;
	}
#pragma omp parallel for num_threads(threads) schedule(static) /* bound: clause, cannot be shown */
	for (int i = 0; i < n; i++)
		b[i * 3 / n]++;
}

NOINLINE static void of_three(int kind)
{
	int threads = 1;

	switch (kind) {
	case 1: threads = 2; break;
	case 2:
		note();
		threads = 4;
		break;
	case 3:
		note();
		note();
		threads = 3;
		break;
	case 5:
		note();
		threads = 1;
		break;
	default: break;
	}
#pragma omp parallel num_threads(threads) /* bound: count */
	{
#pragma omp atomic
		many++;
	}
}

NOINLINE static void if_many(int size)
{
#pragma omp parallel for if (size > 100) /* free */
	for (int i = 0; i < n; i++)
		b[i] += i;
}

NOINLINE static void tail(void)
{
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i]++;
}

NOINLINE static void counting_tail(void)
{
#pragma omp parallel /* bound: count */
	{
#pragma omp atomic
		many += 5;
	}
}

int main(void)
{
	n = corpus_int(N);
	one_of_two(corpus_int(1));
	one_of_two(corpus_int(0));
	few_or_more(corpus_int(3));
	more_or_few(corpus_int(0));
	for (int kind = 0; kind < 6; kind++)
		of_three(corpus_int(kind));
	if_many(n);
	tail();
	counting_tail();
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(many + calls);
	return corpus_end();
}

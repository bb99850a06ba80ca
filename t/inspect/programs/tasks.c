// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tasks and sections. */
#include "corpus.h"
enum { N = 200 };
static double a[N], x, y;
static volatile int flag;
static int made;

NOINLINE static void fill(int from, int to)
{
	if (to - from < 20) {
		for (int i = from; i < to; i++)
			a[i] += i;
		return;
	}
#pragma omp task
	fill(from, (from + to) / 2);
	fill((from + to) / 2, to);
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* bound: task */
#pragma omp single
	fill(0, n);
#pragma omp parallel /* bound: task */
#pragma omp single
#pragma omp taskloop
	for (int i = 0; i < n; i++)
		a[i] += 1;
#pragma omp parallel /* bound: task, shown */
#pragma omp single
	{
#pragma omp task
		while (!flag) {
#pragma omp taskyield
		}
#pragma omp task
		flag = 1;
	}
#pragma omp parallel /* bound: task, shown */
	{
#pragma omp task
#pragma omp atomic
		made++;
#pragma omp taskwait
	}
#pragma omp parallel sections /* open: clang makes a loop of it */
	{
#pragma omp section
		x = 1;
#pragma omp section
		y = 2;
	}
#pragma omp parallel /* open: clang makes a loop of it */
	{
#pragma omp sections
		{
#pragma omp section
			x += 3;
#pragma omp section
			y += 4;
		}
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += x;
	}
	corpus_add(a, sizeof(a));
	corpus_number(x + y);
	corpus_number(made);
	return corpus_end();
}

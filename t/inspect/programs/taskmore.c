// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tasks with reductions, groups, priorities, untied ones, and tasks that ask who runs them. */
#include "corpus.h"
#include <omp.h>
enum { N = 256, MOST = 64 };
static double a[N], by_thread[MOST];

int main(void)
{
	int n = corpus_int(N);
	double sum = 0, other = 0, later = 0;

#pragma omp parallel /* free */
#pragma omp single
	{
#pragma omp taskgroup task_reduction(+ : sum)
		for (int i = 0; i < n; i++) {
#pragma omp task in_reduction(+ : sum) untied priority(i)
			sum += corpus_value(i);
		}
		later = sum * 2;
	}
#pragma omp parallel reduction(task, + : other) /* free */
#pragma omp master
	for (int i = 0; i < n; i++) {
#pragma omp task in_reduction(+ : other)
		other += i;
	}
#pragma omp parallel master taskloop collapse(2) /* free */
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 16; j++)
			a[i * 16 + j] = i * j;
#pragma omp parallel /* bound: identity, cannot be shown */
#pragma omp single
	for (int i = 0; i < n; i++) {
#pragma omp task
		by_thread[omp_get_thread_num()] = 1;
	}
#pragma omp parallel /* open: grain */
#pragma omp single
#pragma omp taskloop num_tasks(omp_get_num_threads() * 4)
	for (int i = 0; i < n; i++)
		a[i] += 4;
	if (by_thread[MOST - 1] > 0)
		corpus_number(1);
	corpus_add(a, sizeof(a));
	corpus_number(sum + later + other);
	return corpus_end();
}

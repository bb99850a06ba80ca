// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules that the runtime decides. */
#include "corpus.h"
#include <omp.h>
enum { N = 777 };
static double a[N];

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for schedule(dynamic) /* free */
	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i);
#pragma omp parallel for schedule(guided, 4) /* free */
	for (int i = 0; i < n; i++)
		a[i] += i;
	omp_set_schedule(omp_sched_static, 3);
#pragma omp parallel for schedule(runtime) /* free */
	for (int i = 0; i < n; i++)
		a[i] *= 2;
#pragma omp parallel for schedule(auto) /* free */
	for (int i = 0; i < n; i++)
		a[i] -= 5;
#pragma omp parallel for schedule(monotonic : dynamic, 7) /* free */
	for (int i = 0; i < n; i++)
		a[i] += 9;
#pragma omp parallel /* free */
	{
#pragma omp for schedule(runtime) nowait
		for (int i = 0; i < n; i++)
			a[i] += 1;
#pragma omp for schedule(nonmonotonic : guided)
		for (int i = 0; i < 10; i++)
			corpus_value(i);
	}
	corpus_add(a, sizeof(a));
	return corpus_end();
}

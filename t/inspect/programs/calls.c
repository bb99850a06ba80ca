// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls into a library whose code the program does not have, as those of MPI. */
#include "corpus.h"
#include "external.h"
#include <omp.h>
enum { N = 200 };
static double a[N], halo[2];

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* open: external */
	for (int i = 0; i < n; i++)
		a[i] = external_value(corpus_value(i));
#pragma omp parallel /* free */
	{
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += 1;
#pragma omp master
		{
			halo[0] = a[0];
			halo[1] = a[n - 1];
			external_send(halo, 2);
		}
	}
#pragma omp parallel /* free */
	{
#pragma omp single
		external_count();
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += halo[i % 2];
	}
#pragma omp parallel /* bound: count */
	external_count();
#pragma omp parallel /* bound: identity */
	if (omp_get_thread_num() > 0)
		external_count();
	corpus_add(a, sizeof(a));
	corpus_number((double)external_calls());
	return corpus_end();
}

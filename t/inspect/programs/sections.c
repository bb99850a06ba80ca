// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sections: each is done once, by whom is not known. */
#include "corpus.h"
#include <omp.h>
static double a[8];

int main(void)
{
	double x = 0, y = corpus_int(3);

#pragma omp parallel sections /* free */
	{
#pragma omp section
		a[0] = corpus_value(1);
#pragma omp section
		a[1] = corpus_value(2);
#pragma omp section
		a[2] = corpus_value(3) * y;
	}
#pragma omp parallel /* free */
	{
#pragma omp sections lastprivate(x) nowait
		{
#pragma omp section
			x = 1;
#pragma omp section
			x = 2;
		}
#pragma omp sections
		{
			a[3] = 5;
#pragma omp section
			a[4] = 6;
		}
	}
#pragma omp parallel sections reduction(+ : y) /* free */
	{
		y += 2;
#pragma omp section
		y += 3;
	}
#pragma omp parallel sections /* bound: identity, cannot be shown */
	{
		a[5] = omp_get_thread_num();
#pragma omp section
		a[6] = omp_get_thread_num();
	}
#pragma omp parallel /* bound: number */
	{
#pragma omp sections
		{
			a[5] = omp_get_num_threads();
#pragma omp section
			a[6] = 1;
		}
	}
	corpus_add(a, sizeof(a));
	corpus_number(x);
	corpus_number(y);
	return corpus_end();
}

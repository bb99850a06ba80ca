// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fewer iterations than threads: some threads find nothing to do. */
#include "corpus.h"
static double a[8];
static long sum;

int main(void)
{
	int one = corpus_int(1), two = corpus_int(2), none = corpus_int(0);
	double least = 5000;

#pragma omp parallel for /* free */
	for (int i = 0; i < one; i++)
		a[i] = corpus_value(i);
#pragma omp parallel for reduction(min : least) /* free */
	for (int i = 0; i < two; i++)
		least = corpus_value(i) < least ? corpus_value(i) : least;
#pragma omp parallel for reduction(+ : sum) /* free */
	for (int i = 0; i < none; i++)
		sum += i + 1;
#pragma omp parallel for lastprivate(two) /* free */
	for (int i = 0; i < 3; i++)
		two = i * 5;
#pragma omp parallel /* bound: count */
	{
		long mine = 1;
#pragma omp for nowait
		for (int i = 0; i < one; i++)
			mine += i;
#pragma omp atomic
		sum += mine;
	}
	corpus_add(a, sizeof(a));
	corpus_number(least);
	corpus_number(two);
	corpus_number((double)sum);
	return corpus_end();
}

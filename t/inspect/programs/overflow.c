// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sums of each thread in a word that is smaller than that of all; and sums behind another share. */
#include "corpus.h"
#include <omp.h>
enum { N = 240 };
static unsigned long wide;
static long whole;
static unsigned total;
static double sum;

int main(void)
{
	int n = corpus_int(N), few = corpus_int(1);

#pragma omp parallel /* bound: private */
	{
		unsigned mine = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine += 100000000u + (unsigned)i;
#pragma omp atomic
		wide += mine;
	}
#pragma omp parallel /* bound: private */
	{
		unsigned char mine = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine += (unsigned char)corpus_value(i);
#pragma omp atomic
		total += mine;
	}
#pragma omp parallel /* free */
	{
		int mine = 0;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine += (int)corpus_value(i);
#pragma omp atomic
		whole += mine;
	}
#pragma omp parallel /* bound: share */
	{
		int threads = omp_get_num_threads(), t = omp_get_thread_num();
		int q = few / threads, r = few % threads, low, high;
		double mine = 0;

#pragma omp for nowait
		for (int i = 0; i < n; i++)
			mine += corpus_value(i);
		if (t < r)
			q++, r = 0;
		low = q * t + r;
		high = low + q;
		if (low < high) {
#pragma omp atomic
			sum += mine;
		}
	}
	corpus_number((double)wide + (double)whole + total * 3 + sum);
	return corpus_end();
}

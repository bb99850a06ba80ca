// SPDX-License-Identifier: LGPL-2.1-or-later
/* Random numbers: of each thread, of each iteration, of all. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
enum { N = 400, MOST = 64 };
static double a[N], sum;
static unsigned seeds[MOST];
static _Thread_local uint64_t state = 88172645463325252u;

NOINLINE static double draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state & 1023);
}

NOINLINE static unsigned step(unsigned *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 20;
}

int main(void)
{
	int n = corpus_int(N);

	for (int i = 0; i < MOST; i++)
		seeds[i] = (unsigned)i + 1;
#pragma omp parallel for /* bound: tls */
	for (int i = 0; i < n; i++)
		a[i] = draw();
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		a[i] += step(&seeds[omp_get_thread_num()]);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		unsigned seed = (unsigned)i;

		step(&seed);
		a[i] += step(&seed);
	}
#pragma omp parallel /* bound: identity */
	{
		unsigned seed = 7 + (unsigned)omp_get_thread_num();
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += step(&seed);
	}
	srand(3);
#pragma omp parallel for reduction(+ : sum) /* open: order */
	for (int i = 0; i < n; i++)
		sum += rand() & 255;
	corpus_add(a, sizeof(a));
	corpus_number(sum);
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Effects that every thread has once: they count the team. In an iteration they do not. */
#include "corpus.h"
#include <unistd.h>
enum { N = 400 };
static double a[N];
static int threads, places[64], place, first, next, quiet, called, bank[N], banked;
static long joined;

NOINLINE static void enter(void)
{
	__atomic_fetch_add(&called, 1, __ATOMIC_SEQ_CST);
}

int main(void)
{
	int n = corpus_int(N);
	FILE *null = fopen("/dev/null", "w");

#pragma omp parallel /* bound: count, shown */
	{
#pragma omp atomic
		threads++;
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] = i;
	}
#pragma omp parallel /* bound: count, shown */
	{
		int mine;
#pragma omp atomic capture
		mine = place++;
		places[mine] = 1;
	}
#pragma omp parallel /* bound: count, shown */
	{
		enter();
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += 1;
	}
#pragma omp parallel /* bound: count, shown */
	puts("one more");
#pragma omp parallel /* bound: count, shown */
	{
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += 2;
		if (write(1, "x", 1) != 1)
			quiet = 1;
	}
	// Single by hand.
#pragma omp parallel /* bound: count */
	if (__atomic_exchange_n(&first, 1, __ATOMIC_SEQ_CST) == 0)
		a[0] += 7;
	// A queue by hand: each thread takes one too many.
#pragma omp parallel /* bound: count, shown */
	for (;;) {
		int i = __atomic_fetch_add(&next, 1, __ATOMIC_SEQ_CST);

		if (i >= n)
			break;
		a[i] += 3;
	}
#pragma omp parallel /* bound: count, shown */
	for (int k = 0; k < 3; k++)
		__atomic_fetch_add(&joined, k, __ATOMIC_SEQ_CST);
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++) {
		int mine;

		if (i % 3)
			continue;
#pragma omp atomic capture
		mine = banked++;
		bank[mine] = i;
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		fprintf(null, "%d\n", i);
	for (int i = 0; i < banked; i++)
		joined += bank[i];
	corpus_add(a, sizeof(a));
	corpus_add(places, sizeof(places));
	corpus_number(threads + called * 10 + next);
	corpus_number((double)joined + banked + quiet);
	fclose(null);
	return corpus_end();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Values that go from one iteration to the next in private memory: bound where they decide what is
 * stored, or become an index or an address. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
enum { N = 800, WIDTH = 32 };
static double a[N], b[N], c[N], d[N];
static int kept;

NOINLINE static void set(double *to, double value)
{
	*to = value;
}

NOINLINE static double next_of(double x)
{
	return x * 3 > 1000 ? x * 3 - 997 : x * 3;
}

int main(void)
{
	int n = corpus_int(N), told = omp_get_max_threads(), wrong = 0, first = corpus_int(1);
	int found = corpus_int(0);
	double most = 0;

#pragma omp parallel /* bound: carried, shown */
	{
		unsigned seed = 42;
#pragma omp for
		for (int i = 0; i < n; i++) {
			seed = seed * 1103515245u + 12345u;
			a[i] = 1 + seed % 7;
		}
	}
	corpus_add(a, sizeof(a));
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++) {
		double *row = &c[i];

		a[i] = corpus_value(i) + 25;
		*row = a[i] > 0;
	}
#pragma omp parallel for firstprivate(first) /* bound: carried, shown */
	for (int i = 0; i < n; i++) {
		b[i] = first ? 7 : a[i];
		first = 0;
	}
	corpus_add(b, sizeof(b));
#pragma omp parallel /* bound: carried, shown */
	{
		int begins = 1;
#pragma omp for
		for (int i = 0; i < n; i++) {
			b[i] = begins ? 7 : a[i];
			begins = 0;
		}
	}
	corpus_add(b, sizeof(b));
#pragma omp parallel /* bound: carried, shown */
	{
		double last = 0;
#pragma omp for
		for (int i = 0; i < n; i++) {
			b[i] = a[i] - last;
			last = a[i];
		}
	}
	corpus_add(b, sizeof(b));
#pragma omp parallel firstprivate(found) /* bound: carried, shown */
	{
#pragma omp for
		for (int i = 0; i < n; i++) {
			if (a[i] > 500)
				found++;
			b[i] += found;
		}
	}
	corpus_add(b, sizeof(b));
#pragma omp parallel for firstprivate(first) /* bound: carried, shown */
	for (int i = 0; i < n; i++) {
		if (first)
			b[i] = 3;
		first = a[i] > 900;
	}
	corpus_add(b, sizeof(b));
#pragma omp parallel /* bound: carried, shown */
	{
		double x = corpus_int(3);
#pragma omp for
		for (int i = 0; i < n; i++) {
			x = next_of(x);
			b[i] = x;
		}
	}
	corpus_add(b, sizeof(b));
#pragma omp parallel for firstprivate(first) /* bound: carried, shown */
	for (int i = 0; i < n; i++) {
		set(&b[i], first ? 7 : a[i]);
		first = 0;
	}
	corpus_add(b, sizeof(b));
#pragma omp parallel /* bound: carried, shown */
	{
		int before = corpus_int(-1);
#pragma omp for
		for (int i = 0; i < n; i++) {
			b[i] = before;
			before = i;
		}
	}
	corpus_add(b, sizeof(b));
#pragma omp parallel /* bound: carried, shown */
	{
		double last = 0;
#pragma omp for
		for (int i = 0; i < n; i++)
			last = a[i] > 30 ? a[i] : last;
#pragma omp for
		for (int i = 0; i < n; i++)
			b[i] += last;
	}
	corpus_add(b, sizeof(b));
	// gcc makes two copies of the loop over pieces.
#pragma omp parallel firstprivate(first) /* open: carried */
	{
#pragma omp for schedule(dynamic, 3)
		for (int i = 0; i < n; i++) {
			d[i] = first ? 7 : a[i];
			first = 0;
		}
	}
	for (int k = 0; k < 3; k++) {
#pragma omp parallel firstprivate(k) /* bound: carried, shown */
		for (int t = 0; t < 2; t++) {
			int begins = k - t + 1;

#pragma omp for
			for (int i = 0; i < n; i++) {
				b[i] += begins;
				begins = 0;
			}
		}
	}
	corpus_add(b, sizeof(b));
	// The most of all is the same however they are shared.
#pragma omp parallel for reduction(max : most) /* free */
	for (int i = 0; i < n; i++) {
		most = a[i] > most ? a[i] : most;
		b[i] = a[i] * 2;
	}
	// What was found for the iteration before may be found again.
#pragma omp parallel /* open: carried */
	{
		double key = -1, value = 0;
#pragma omp for
		for (int i = 0; i < n; i++) {
			if (key != a[i / 8 * 8]) {
				key = a[i / 8 * 8];
				value = next_of(key);
			}
			b[i] += value;
		}
	}
	corpus_add(b, sizeof(b));
	// Of n divided by the number told: too small for a smaller team.
#pragma omp parallel /* bound: index, shown */
	{
		double *mine = malloc((size_t)(n / told) * sizeof(*mine));
		int count = 0;
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++)
			mine[count++] = a[i];
#pragma omp atomic
		kept += count > n / told;
		free(mine);
	}
#pragma omp parallel /* bound: index */
	{
		double mine[N];
		int count = 0;
#pragma omp for schedule(static) nowait
		for (int i = 0; i < n; i++)
			if (a[i] > 3)
				mine[count++] = a[i];
		for (int i = 0; i < count; i++) {
#pragma omp atomic
			c[0] += mine[i] > 100;
		}
	}
#pragma omp parallel /* bound: index, shown */
	{
		double mine[N / 2 + 1];
		double *end = mine;
		int more = 0;
#pragma omp for schedule(static) nowait
		for (int i = 0; i < n; i++) {
			if (a[i] > 0)
				*end++ = a[i];
			more += end - mine > N / 2;
		}
#pragma omp atomic
		wrong += more > 0;
	}
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_number(wrong + kept + most + (d[n - 1] < -n));
	return corpus_end();
}

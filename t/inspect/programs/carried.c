// SPDX-License-Identifier: LGPL-2.1-or-later
/* Values that go from one iteration to the next in private memory: no identity, unless one becomes
 * an index or an address. What may vary by team is not printed. */
#include "corpus.h"
#include <omp.h>
#include <stdlib.h>
enum { N = 800, WIDTH = 32 };
static double a[N], b[N], c[N];
static int found, kept;

int main(void)
{
	int n = corpus_int(N), told = omp_get_max_threads(), wrong = 0;

#pragma omp parallel /* hot: not from one */
	{
		unsigned seed = 42;
#pragma omp for
		for (int i = 0; i < n; i++) {
			seed = seed * 1103515245u + 12345u;
			a[i] = 1 + seed % 7;
		}
	}
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++) {
		double *row = &c[i];

		*row = a[i] > 0 && a[i] < 8;
	}
#pragma omp parallel /* free */
	{
		double last = 0, most = 0;
#pragma omp for
		for (int i = 0; i < n; i++) {
			b[i] = a[i] - last >= -7;
			last = a[i];
			most = last > most ? last : most;
		}
#pragma omp for
		for (int i = 0; i < n; i++)
			b[i] += most > 100;
	}
#pragma omp parallel firstprivate(found) /* free */
	{
#pragma omp for
		for (int i = 0; i < n; i++) {
			if (a[i] == 3)
				found++;
			b[i] += found > n;
		}
	}
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
	corpus_number(wrong + kept);
	return corpus_end();
}

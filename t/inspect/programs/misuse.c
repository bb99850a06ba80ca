// SPDX-License-Identifier: LGPL-2.1-or-later
/* The compiler's division by hand, with the number or the bounds used for something else. */
#include "corpus.h"
#include "share.h"
#include <string.h>
enum { N = 1001, MOST = 64 };
static double a[N + 8], b[N];
static int starts[MOST], largest, lows, empty;

NOINLINE static void fill(double *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] += 6;
}

NOINLINE static void wave(int from, int to)
{
	for (int i = from + 1; i < to; i++)
		a[i] += (int)a[i - 1] & 7;
}

int main(void)
{
	int n = corpus_int(N), few = corpus_int(2), told = omp_get_max_threads();

#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		starts[t] = low;
		for (int i = low; i < high; i++)
			a[i] = b[i] = corpus_value(i);
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += i == low ? 0 : b[i - 1];
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += i - low;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += low * 0.5;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += i ^ high;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
#pragma omp atomic
		lows += low;
		for (int i = low; i < high; i++)
			a[i] += low > 0 ? 1 : 2;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += 2;
		if (high > low)
			a[high - 1] = -7;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		wave(low, high);
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i <= high; i++) {
#pragma omp atomic
			a[i] += 1;
		}
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(few);
		if (low >= high) {
#pragma omp atomic
			empty++;
		}
	}
	// Right for a team of the told size only.
#pragma omp parallel /* bound: told, shown */
	{
		int t = omp_get_thread_num(), size = n / told, low = t * size;
		int high = t == told - 1 ? n : low + size;

		for (int i = low; i < high && i < N; i++)
			a[i] += 3;
	}
#pragma omp parallel /* bound: share, shown */
	{
		int t = omp_get_thread_num(), size = n / omp_get_num_threads();

		for (int i = t * size; i < (t + 1) * size; i++)
			a[i] += 4;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
#pragma omp barrier
		memset(b, 0, (size_t)size * sizeof(*b));
	}
	// Of the size that a share has in the told team.
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		double mine[N / 2 + 1];

		memcpy(mine, a + low, (size_t)size * sizeof(*a));
		fill(mine, size);
		memcpy(a + low, mine, (size_t)size * sizeof(*a));
	}
#pragma omp parallel /* bound: number, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			if (threads > 2)
				a[i] += 5;
	}
#pragma omp parallel /* bound: number, shown */
	{
		int mine = n / omp_get_num_threads();
#pragma omp single
		largest = mine;
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(starts, sizeof(starts));
	corpus_number(largest + lows + empty * 10000);
	return corpus_end();
}

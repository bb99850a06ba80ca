// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bytes set and copied at once: those of a thread's iterations, or others. */
#include "corpus.h"
#include "share.h"
#include <string.h>
enum { N = 1003 };
static double a[2 * N + 8], b[2 * N + 8];

/* Of the bytes that are set, some are not what they were before. */
static void check(void)
{
	corpus_add(b, sizeof(b));
	memset(b, 1, sizeof(b));
}

static NOINLINE void of_iterations(int n)
{
#pragma omp parallel /* free */
	{
		SHARE(n);
		if (low < high)
			memcpy(b + low, a + low, (size_t)size * sizeof(*b));
	}
	check();
#pragma omp parallel /* free */
	{
		SHARE(n);
		if (low < high)
			memset(b + 2 * low, 0, (size_t)size * 2 * sizeof(*b));
	}
	check();
#pragma omp parallel for /* free */
	for (int i = n - 1; i >= 0; i--)
		b[i] = 0;
	check();
#pragma omp parallel for /* free */
	for (int i = n - 1; i >= 0; i--)
		b[i] = a[i];
	check();
}

static NOINLINE void of_others(int n)
{
#pragma omp parallel /* bound: half of them, shown */
	{
		SHARE(n);
		if (low < high)
			memcpy(b + low, a + low, (size_t)size * sizeof(*b) / 2);
	}
	check();
#pragma omp parallel /* bound: one less, shown */
	{
		SHARE(n);
		if (low < high)
			memcpy(b + low, a + low, (size_t)(size - 1) * sizeof(*b));
	}
	check();
#pragma omp parallel /* bound: half of the iterations, shown */
	{
		SHARE(n);
		if (low < high)
			memset(b + low, 0, (size_t)(size / 2) * sizeof(*b));
	}
	check();
#pragma omp parallel /* bound: whole vectors, shown */
	{
		SHARE(n);
		if (low < high)
			memcpy(b + low, a + low, (size_t)(size & -4) * sizeof(*b));
	}
	check();
#pragma omp parallel /* bound: whole vectors that a loop has, shown */
	{
		SHARE(n);
		for (int i = low; i < low + (size & -2); i += 2) {
			b[i] = a[i];
			b[i + 1] = a[i + 1];
		}
	}
	check();
}

static NOINLINE void elsewhere(int n)
{
#pragma omp parallel /* bound: twice as far apart, shown */
	{
		SHARE(n);
		if (low < high)
			memcpy(b + 2 * low, a + low, (size_t)size * sizeof(*b));
	}
	check();
#pragma omp parallel /* bound: what each reads begins at the same, shown */
	{
		SHARE(n);
		if (low < high)
			memcpy(b + low, a, (size_t)size * sizeof(*b));
	}
	check();
}

int main(void)
{
	int n = corpus_int(N);

	for (int i = 0; i < n; i++)
		a[i] = corpus_value(i);
	check();
	of_iterations(n);
	of_others(n);
	elsewhere(n);
	return corpus_end();
}

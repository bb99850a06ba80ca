// SPDX-License-Identifier: LGPL-2.1-or-later
/* The bounds of a share, divided, masked or rounded by hand: the result depends on the division. */
#include "corpus.h"
#include "share.h"
#include <string.h>
enum { N = 1001 };
static int a[N + 8], b[N + 8];

/* One region: I goes through a share, and a[i] is increased by VALUE. */
#define ADD(value) \
	SHARE(n); \
	for (int i = low; i < high; i++) \
	a[i] += (value)

int main(void)
{
	int n = corpus_int(N), by = corpus_int(7), sum = 0;

	for (int i = 0; i < N; i++)
		b[i] = i * 3;
#pragma omp parallel /* bound: share, shown */
	{
		ADD((i >> 2) - (low >> 2));
	}
#pragma omp parallel /* bound: share, shown */
	{
		ADD(low >> 2);
	}
#pragma omp parallel /* bound: share, shown */
	{
		ADD(i / 7 - low / 7);
	}
#pragma omp parallel /* bound: share, shown */
	{
		ADD((unsigned)i / 10u - (unsigned)low / 10u);
	}
#pragma omp parallel /* bound: share, shown */
	{
		ADD(i / by - low / by);
	}
#pragma omp parallel /* bound: share, shown */
	{
		ADD(low % by);
	}
#pragma omp parallel /* bound: share, shown */
	{
		ADD((i & 7) - (low & 7));
	}
#pragma omp parallel /* bound: share, shown */
	{
		ADD(i + (low & -4));
	}
#pragma omp parallel /* bound: share, shown */
	{
		ADD(i - (high & -4));
	}
#pragma omp parallel /* bound: share, shown */
	{
		ADD(low + (size & -4));
	}
#pragma omp parallel /* bound: share, shown */
	{
		ADD(low > 5 ? low : 3);
	}
#pragma omp parallel /* bound: share, shown */
	{
		ADD(size > 300 ? size : 300);
	}
#pragma omp parallel /* bound: share, shown */
	{
		ADD(b[(i >> 2) - (low >> 2)]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			if ((i >> 2) == (low >> 2))
				a[i] += 5;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low, j = low >> 2; i < high; i++, j++)
			a[i] += j;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low, j = size >> 1; i < high; i++, j--)
			a[i] += j;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low, j = low ^ high; i < high; i++, j++)
			a[i] += j;
	}
#pragma omp parallel /* bound: share, shown */
	{
		double x;
		SHARE(n);

		x = low;
		for (int i = low; i < high; i++, x *= 1.5)
			a[i] += x > 900;
	}
	// Indices at different paces; other than in whole vectors.
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low, j = low; i < high; i++, j += 2)
			a[i] += b[j % n];
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low, j = high; i < high; i++, j--)
			a[i] += b[j % n];
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			for (int k = 0; k < low >> 3; k++)
				a[i] += k;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			for (int k = low >> 3; k < 200; k++)
				a[i] += k;
	}
	// Each length once is a reduction.
#pragma omp parallel /* free */
	{
		SHARE(n);
#pragma omp atomic
		sum += low < high ? size : 0;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++) {
#pragma omp atomic
			sum += size;
		}
	}
	// memcpy() returns where it writes.
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		int *begin = memcpy(b + low, a + low, (size_t)size * sizeof(*a));

		for (int i = low; i < high; i++)
			a[i] += (int)(begin - b) & 15;
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(sum);
	return corpus_end();
}

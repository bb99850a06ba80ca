// SPDX-License-Identifier: LGPL-2.1-or-later
/* Places that are made of a share's bounds at another pace than its iterations, or only once. */
#include "corpus.h"
#include "share.h"
enum { N = 1001 };
static int a[3 * N + 8], b[3 * N + 8];

/* One region: I goes through a share and does WHAT each time. */
#define EACH(what) \
	SHARE(n); \
	for (int i = low; i < high; i++) \
	what

int main(void)
{
	int n = corpus_int(N), sum = 0;

	for (int i = 0; i < n; i++)
		b[i] = i * 3;
	// A share's length, rounded.
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i + (size & -4)] += i);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[i + (size & -4)]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i + (size & -16) - 2] += 1);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i + ((high - low) & ~1)] += 3);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i + (size >> 2) * 4] += i);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[i + (size >> 1)]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i + size / 8 * 8] += i);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[i + size % 8]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i + size + low] += 7);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[i + size]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low + (size & -4); i < high; i++)
			a[i] += i;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < low + (size & -4); i++)
			a[i] += i;
	}
	// The first iteration, or the last.
#pragma omp parallel /* bound: share, shown */
	{
		EACH(if (i != low) a[i] += i);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(if (i != low) a[i] += b[i - 1]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(if (i == low) a[i] += 9);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(if (i != high - 1) a[i] += b[i]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += i == low ? 1 : 2);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += i > low ? b[i] : b[i] * 2);
	}
#pragma omp parallel reduction(+ : sum) /* bound: share, shown */
	{
		EACH(if (i != low) sum += b[i]);
	}
#pragma omp parallel reduction(+ : sum) /* bound: share, shown */
	{
		EACH(if (i != low) sum++);
	}
#pragma omp parallel reduction(+ : sum) /* bound: share, shown */
	{
		EACH(if (i + 1 < high) sum += i);
	}
#pragma omp parallel reduction(+ : sum) /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low + 1; i < high; i++)
			sum += b[i];
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low + 1; i < high; i++)
			a[i] += 5;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high - 1; i++)
			a[i] += 5;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			if (i != low) {
#pragma omp atomic
				sum++;
			}
	}
	// Other paces, and backwards.
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[low + 2 * (i - low)] = i);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[high - 1 - (i - low)] += i);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[low + 2 * (i - low)]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[high - 1 - (i - low)]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[high - i]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[i - low]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[low]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[high]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[(low + i) / 2]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[low + (i - low) / 2] = i);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[2 * i - low]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i + low] += b[i]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		EACH(a[i] += b[(i + low) & 511]);
	}
#pragma omp parallel reduction(+ : sum) /* bound: share, shown */
	{
		EACH(sum += b[i] * b[high - 1 - (i - low)]);
	}
#pragma omp parallel reduction(+ : sum) /* bound: share, shown */
	{
		EACH(sum += b[low + 2 * (i - low)]);
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		int *to = a + low;
		for (int i = low; i < high; i++, to += 2)
			*to = i;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		int *from = b + high;
		for (int i = low; i < high; i++)
			a[i] += *--from;
	}
	// At the pace of the iterations.
#pragma omp parallel /* free */
	{
		EACH(a[2 * i] += b[n - i]);
	}
#pragma omp parallel /* free */
	{
		SHARE(n);
		for (int i = high - 1; i >= low; i--)
			a[i] += b[2 * i];
	}
#pragma omp parallel /* free */
	{
		SHARE(n);
		int i = low;
		if (i < high)
			do
				a[i] += b[i + 1];
			while (++i < high);
	}
#pragma omp parallel reduction(+ : sum) /* free */
	{
		EACH(sum += b[i] * b[n - 1 - i]);
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(sum);
	return corpus_end();
}

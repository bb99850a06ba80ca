// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is done by where a thread's iterations begin and end, with schedules by hand of any kind. */
#include "corpus.h"
#include "share.h"
enum { N = 1001 };
static int a[5 * N + 8], b[5 * N + 8];
static double d[5 * N + 8];

#define ASK() int t = omp_get_thread_num(), T = omp_get_num_threads()

int main(void)
{
	int n = corpus_int(N), by = corpus_int(3), sum = 0;

	for (int i = 0; i < n; i++)
		b[i] = i * 3;
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i + 4 <= high; i += 4) {
			a[i]++;
			a[i + 1]++;
			a[i + 2]++;
			a[i + 3]++;
		}
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high - 3; i++)
			a[i] += 1;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		if (size > 300)
			for (int i = low; i < high; i++)
				a[i] += 1;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			if (size > 300)
				a[i] += 1;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			if (i < low + 4)
				a[i] += 1;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			if (i >= high - 4)
				a[i] += 1;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += (i - low) % by;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			d[i] += (i - low) * 0.5;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			d[i] += (double)i / (high - i);
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			d[i] += 1.0 / size;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low, k = 0; i < high; i++, k += 3)
			a[i] += b[low + k];
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low, k = 0; i < high; i++, k++)
			a[i] += b[k];
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		int *p = b + 2 * low;
		for (int i = low; i < high; i++)
			a[i] += *p++;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		int *p = b + low;
		for (int i = low; i < high; i++, p += 3)
			a[i] += *p;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += low + 2 * (i - low);
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += high - 1 - (i - low);
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			d[i] += low + 2 * (i - low);
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low, v = low; i < high; i++, v += 2)
			d[i] += v;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low, v = 2 * low; i < high; i++, v += 1)
			a[i] += v;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += b[i ^ (low & 7)];
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += b[i + (low >> 1)];
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			a[i] += b[i / 2 + low / 2];
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		int l = b[low];
		for (int i = low; i < high; i++)
			a[i] += l;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		if (low < high) {
			double l = b[low];
			for (int i = low; i < high; i++)
				d[i] += l * 2;
		}
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		if (low < high) {
			int l = b[high - 1];
			for (int i = low; i < high; i++)
				a[i] += b[i] == l;
		}
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			for (int j = low; j < low + 2; j++)
				a[i] += b[j];
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			for (int j = low; j < i; j++)
				a[i] += 1;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			for (int j = i; j < high; j++)
				a[i] += 1;
	}
#pragma omp parallel reduction(+ : sum) /* bound: share, shown */
	{
		SHARE(n);
		if (low < high)
			sum += b[low];
	}
#pragma omp parallel reduction(+ : sum) /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			sum += i == low;
	}
#pragma omp parallel reduction(+ : sum) /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			sum += b[i] * (i != high - 1);
	}
#pragma omp parallel reduction(max : sum) /* bound: share */
	{
		SHARE(n);
		for (int i = low; i < high; i++)
			sum = i - low + 70000 > sum ? i - low + 70000 : sum;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = high - 1; i > low; i--)
			a[i] += 3;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = high; i > low; i--)
			a[i + low] += 3;
	}
#pragma omp parallel /* bound: share, shown */
	{
		SHARE(n);
		for (int i = low + (low & 1); i < high; i += 2)
			a[i] += i;
		a[n + 9] = 0;
		for (int i = low + 1; i < high; i += 2)
			a[i] ^= 5;
	}
	// Single iterations, or chunks, in turn.
#pragma omp parallel /* bound: share, shown */
	{
		ASK();
		for (int i = t; i < n; i += T)
			if (i != t)
				a[i] += 1;
	}
#pragma omp parallel /* bound: share, shown */
	{
		ASK();
		for (int i = t + T; i < n; i += T)
			a[i] += 1;
	}
#pragma omp parallel /* bound: share, shown */
	{
		ASK();
		for (int i = t; i < n; i += T)
			a[i] += b[i - t];
	}
#pragma omp parallel /* bound: share, shown */
	{
		ASK();
		for (int i = t, k = 0; i < n; i += T, k++)
			a[i] += k;
	}
#pragma omp parallel /* bound: share, shown */
	{
		ASK();
		for (int i = t, k = t; i < n; i += T, k++)
			a[i] += b[k];
	}
#pragma omp parallel /* bound: share, shown */
	{
		ASK();
		for (int i = 4 * t; i < n; i += 4 * T)
			for (int j = i; j < i + 4 && j < n; j++)
				a[j] += b[4 * t + j];
	}
#pragma omp parallel /* bound: share, shown */
	{
		ASK();
		for (int i = 4 * t; i < n; i += 4 * T)
			for (int j = i, k = 4 * t; j < i + 4 && j < n; j++, k++)
				a[j] += b[k];
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(d, sizeof(d));
	corpus_number(sum);
	return corpus_end();
}

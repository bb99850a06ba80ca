// SPDX-License-Identifier: LGPL-2.1-or-later
/* Values that an iteration reads for the next one: as compilers do, and as they do not. */
#include "corpus.h"
#include <omp.h>

enum { N = 240 };
static double a[N + 4], b[2 * N + 8], c[N + 4], out[N];
static int start[N + 1], column[4 * N];
static int limit = 3;
static float narrow[2 * N + 16];

struct share {
	int low, high;
};

static inline struct share share(int n)
{
	int threads = omp_get_num_threads(), self = omp_get_thread_num();
	int q = n / threads, r = n % threads, low;

	if (self < r) {
		q++;
		r = 0;
	}
	low = q * self + r;
	return (struct share){low, low + q};
}

static void parts(int n)
{
#pragma omp parallel /* bound: share */
	{
		struct share mine = share(n);
		double before = b[mine.low];

#pragma omp barrier
#pragma omp for
		for (int i = 0; i < 2 * n; i++)
			b[i] += 3;
		for (int i = mine.low; i < mine.high; i++) {
			out[i] += before;
			before = b[i + 1];
		}
	}
#pragma omp parallel /* bound: share */
	{
		struct share mine = share(n);
		double before = b[mine.low];

		for (int i = mine.low; i < mine.high; i++) {
			out[i] += before;
			before = b[i];
		}
	}
#pragma omp parallel /* bound: share */
	{
		struct share mine = share(n);
		double before = b[mine.low];

		for (int i = mine.low; i < mine.high; i++) {
			out[i] += before;
			before = b[2 * i + 2];
		}
	}
#pragma omp parallel /* bound: share */
	{
		struct share mine = share(n);
		double before = c[mine.low];

		for (int i = mine.low; i < mine.high; i++) {
			out[i] += before;
			before = b[i + 1];
		}
	}
#pragma omp parallel /* bound: share */
	{
		struct share mine = share(n);
		double before = b[mine.low], last = b[mine.low + 2];

		for (int i = mine.low; i < mine.high; i++) {
			out[i] += before;
			before = last;
			last = b[i + 2];
		}
	}
#pragma omp parallel /* bound: share */
	{
		struct share mine = share(n);
		double before = b[mine.low];

		for (int i = mine.low; i < mine.high; i++)
			c[i] += before;
		for (int i = mine.low; i < mine.high; i++) {
			before = b[i];
			a[i] += 1;
		}
		for (int i = mine.low; i < mine.high; i++) {
			out[i] += before;
			before = b[i + 1];
		}
	}
#pragma omp parallel /* bound: share */
	{
		struct share mine = share(n);
		double before = narrow[2 * mine.low];

		for (int i = mine.low; i < mine.high; i++) {
			out[i] += before;
			before = *(double *)(void *)&narrow[2 * i + 2];
		}
	}
#pragma omp parallel /* bound: share */
	{
		struct share mine = share(n);
		double before = b[mine.low];

		for (int i = mine.low; i < mine.high; i++)
			b[i] = 8 + i % 3;
		for (int i = mine.low; i < mine.high; i++) {
			out[i] += before;
			before = i + 1 < n ? b[i + 1] : 0;
		}
	}
}

int main(void)
{
	int n = corpus_int(N);

	for (int i = 0; i < 2 * n; i++) {
		b[i] = corpus_value(i);
		narrow[i] = (float)corpus_value(i + 5);
	}
	for (int i = 0; i <= n; i++)
		start[i] = 3 * i;
	for (int i = 0; i < 4 * n; i++)
		column[i] = i * 7 % n;
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		double sum = 0;

		for (int k = start[i]; k < start[i + 1]; k++)
			sum += b[column[k]];
		a[i] = sum;
	}
#pragma omp parallel for schedule(static) /* free */
	for (int i = 1; i < n - 1; i++)
		c[i] = b[i - 1] + b[i + 1];
	{
		double before = 4;

#pragma omp parallel for firstprivate(before) /* bound: private */
		for (int i = 0; i < n; i++) {
			out[i] += before;
			before = b[i + 1];
		}
		before = b[0];
#pragma omp parallel for firstprivate(before) schedule(static, 5) /* bound: private */
		for (int i = 0; i < n; i++) {
			out[i] += before;
			before = b[i + 1];
		}
#pragma omp parallel for firstprivate(before) /* bound: private */
		for (int i = 0; i < n; i++) {
			out[i] += before;
			if (a[i] > 900)
				before = b[i + 1];
		}
	}
#pragma omp parallel /* bound: private */
	{
		int most = limit;

#pragma omp barrier
#pragma omp single
		limit = 9;
#pragma omp for
		for (int i = 0; i < n; i++) {
			out[i] += most;
			most = limit;
		}
	}
#pragma omp parallel /* bound: private */
	{
		int most = start[5];

#pragma omp for
		for (int i = 0; i < n; i++) {
			out[i] += most;
			most = start[6];
		}
	}
	parts(n);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_add(out, sizeof(out));
	return corpus_end();
}
